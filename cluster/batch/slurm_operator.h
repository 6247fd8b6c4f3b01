#pragma once
// Workers that are jobs of Slurm, or of another batch system: docs/slurm.md.
//
// jobs: a task that is for one worker only (TaskSpec::worker, which is the task's own id) gets a
// job of that name. The record of the task, with the name in it, is durable before the operator
// sees the task; so there is never a job that nobody knows, and whoever comes after a crash finds
// it by its name, or submits it then. No other record is needed.
//
// jobs, for tasks that name no worker, such as learners and collectors: a job for each that waits,
// whose worker takes one task and goes. They are pilots in all else.
//
// pilots: jobs that run plain workers, as many as there is demand for. Their names have the number
// of the coordinator in them, so that none is given twice; those of an earlier coordinator are
// found by the beginning of their names.
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
  std::filesystem::path program;       // attune, at the same path on all nodes
  std::filesystem::path address_file;  // shared
  std::filesystem::path folder;        // for what jobs print; shared, exists
  std::filesystem::path environment;   // file of what trials inherit; empty: that of the job
  // Mode jobs: the tasks are for workers of their own, as those of a manager with backend: slurm.
  bool tasks_name_workers = true;
  double absent_after = 60;  // see BatchJobsOptions
  double orphan_after = 60;
  double connect_within = 30;  // seconds from the start of a job until its missing worker is told
  double surplus_after = 5;    // seconds after which a pending pilot that nobody needs is cancelled
};

std::unique_ptr<Operator> make_slurm_operator(const SlurmOperatorOptions& options,
                                              std::unique_ptr<BatchSystem> system,
                                              OperatorPort& port, const Log& log);

// Why Slurm could never have the jobs of trials with these needs, as far as can be told without
// asking it; nothing: it may. `about` is a key of `slurm`, or "resources.KIND".
std::optional<JobFlaw> impossible(const SlurmSettings& settings, const Resources& needs);

// ---- what the two modes share

// Of a pilot for trials with these needs.
Resources pilot_shape(const SlurmSettings& settings, const Resources& needs);

// The job of the worker `name`. `more`: further arguments of attune worker.
BatchJob worker_job(const SlurmOperatorOptions& options, const std::string& name,
                    const Resources& capacity, const std::string& more);
BatchJobsOptions batch_jobs_options(const SlurmOperatorOptions& options);
// For the client of a task: `job`, such as "its job 17", runs without its worker being here.
// `output`: the file that may say why.
std::string unreached(const std::string& job, const std::string& address,
                      const std::filesystem::path& output);
// `cause`, of the end of a job whose worker has never come.
std::string never_came(const std::string& cause, const std::filesystem::path& output);
// Its message and what to change, where it does not tell that itself.
std::string refusal_text(const BatchRefusal& refusal);
// What becomes of a job that has not ended and whose worker has never come, as BatchEnd::how, when
// nobody waits for it any longer. `running`: seconds since the job was first seen to run. Empty: it
// may come.
std::string hopeless(const SlurmOperatorOptions& options, const BatchState& state, double running);
// Those whose names begin so that cannot be heard; their tasks wait for them.
std::set<std::string> silent_workers(const OperatorView& view, const std::string& prefix);

}  // namespace attune
