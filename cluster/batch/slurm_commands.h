#pragma once
// The table of commands for Slurm: sbatch, squeue, scancel. Written for and tested with 22.05; all
// options are older than 2021.
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/batch/batch_commands.h"

namespace attune {

struct SlurmPrograms {
  std::filesystem::path sbatch, squeue, scancel;
  std::string user;  // whose jobs are cancelled
};
// Finds the programs in the PATH of `environment`. It is an error, too, if SLURM_CONF there names
// no file: each program would then try for a minute before it gives up.
Result<SlurmPrograms> find_slurm(const std::vector<std::string>& environment);

// The environment of the programs, made from `inherited`. It lacks the user's defaults for the
// programs (SQUEUE_STATES would hide jobs from us), except those that say where jobs go
// (SBATCH_PARTITION, _ACCOUNT, _QOS, _RESERVATION).
std::vector<std::string> slurm_environment(const std::vector<std::string>& inherited);

// Whether `variable`, "NAME=value", describes one job on one machine: the variables of Slurm and
// PMI, devices, TMPDIR, HOSTNAME. No other job may inherit it.
bool is_of_job(std::string_view variable);

// The environment of sbatch, made from that of the programs. sbatch passes it on to the job, so it
// lacks what describes a submitting job, but keeps how the programs find Slurm.
std::vector<std::string> sbatch_environment(const std::vector<std::string>& programs);

// How long a program may take. A client of Slurm itself tries for 100 s if a controller does not
// answer.
struct SlurmLimits {
  std::chrono::milliseconds submit = std::chrono::seconds(60);
  std::chrono::milliseconds other = std::chrono::seconds(30);
};

class SlurmCommands final : public BatchCommands {
 public:
  explicit SlurmCommands(SlurmPrograms programs, SlurmLimits limits = {})
      : programs_(std::move(programs)), limits_(limits) {}

  std::expected<CommandLine, BatchRefusal> submit(const BatchJob& job) const override;
  BatchSubmission submitted(const CommandEnd& end) const override;
  CommandLine list(const std::vector<std::string>& names) const override;
  Result<BatchStates> listed(const CommandEnd& end) const override;
  std::vector<CommandLine> cancel(const std::vector<std::string>& names) const override;
  Result<void> done(const CommandEnd& end) const override;

 private:
  SlurmPrograms programs_;
  SlurmLimits limits_;
};

}  // namespace attune
