#pragma once
// Workers that are jobs of Slurm, or of another batch system; docs/slurm.md is for users.
//
// Mode jobs, for tasks that name a worker (TaskSpec::worker, which is the task's own id): each gets
// a job of that name. The operator sees a task only when its record, with the name in it, is
// durable. So there is never a job that nobody knows: after a crash the next coordinator finds the
// job by its name, or submits it. No other record is needed.
//
// Mode jobs, for tasks that name no worker, such as learners and collectors: a job for each waiting
// task, whose worker takes one task and leaves. In all else these jobs are pilots.
//
// Mode pilots: jobs that run plain workers, as many as the waiting tasks need. Their names contain
// the number of the coordinator, so that no name is given twice. Those of an earlier coordinator
// are recognised by the prefix of their names.
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "cluster/batch/batch_jobs.h"
#include "cluster/batch/slurm_job.h"
#include "cluster/batch/slurm_settings.h"
#include "cluster/pool/operator.h"
#include "os/log.h"

namespace attune {

struct SlurmOperatorOptions {
  SlurmSettings settings;
  std::filesystem::path program;       // the program attune, at the same path on all nodes
  std::filesystem::path address_file;  // on a shared file system
  std::filesystem::path folder;        // for what jobs print; must exist, on a shared file system
  // File with the environment of trials; empty: that of the job.
  std::filesystem::path environment;
  // Mode jobs: whether each task names a worker of its own, as those of a manager with backend:
  // slurm do.
  bool tasks_name_workers = true;
  double absent_after = 60;  // see BatchJobsOptions
  double orphan_after = 60;
  // A job runs for so many seconds before its missing worker is reported.
  double connect_within = 30;
  // A pending pilot that nobody needs is cancelled after so many seconds.
  double surplus_after = 5;
};

std::unique_ptr<Operator> make_slurm_operator(const SlurmOperatorOptions& options,
                                              std::unique_ptr<BatchSystem> system,
                                              OperatorPort& port, const Log& log);

// Why Slurm can never run trials with these needs, as far as can be told without asking it;
// nothing: it may. `about` is a key of `slurm`, or "resources.KIND".
std::optional<JobFlaw> impossible(const SlurmSettings& settings, const Resources& needs);

// ---- what the two modes share

// The size of a pilot for trials with these needs.
Resources pilot_shape(const SlurmSettings& settings, const Resources& needs);

// The job that runs the worker `name`. `more`: further arguments of attune worker.
BatchJob worker_job(const SlurmOperatorOptions& options, const std::string& name,
                    const Resources& capacity, const std::string& more);
BatchJobsOptions batch_jobs_options(const SlurmOperatorOptions& options);
// A text for the client of a task: `job`, such as "its job 17", runs, but its worker is not
// connected. `output` is the file that may say why.
std::string unreached(const std::string& job, const std::string& address,
                      const std::filesystem::path& output);
// A text about a job that has ended before its worker came: `cause`, and that `output` may say
// more.
std::string never_came(const std::string& cause, const std::filesystem::path& output);
// The message of the refusal, and what to change unless the message says so.
std::string refusal_text(const BatchRefusal& refusal);
// Why nobody waits any longer for the worker of a job, which has not ended and whose worker has
// never come; as BatchEnd::how. Empty: the worker may come. `running`: seconds since the job was
// first seen to run.
std::string hopeless(const SlurmOperatorOptions& options, const BatchState& state, double running);
// The workers with this prefix that are not connected; their tasks wait for them.
std::set<std::string> silent_workers(const OperatorView& view, const std::string& prefix);

}  // namespace attune
