#pragma once
// What differs between batch systems: which programs are run, and what their output means. Pure;
// the table for Slurm is slurm_commands.h.
#include <expected>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/batch/batch_job.h"
#include "cluster/batch/command_runner.h"

namespace attune {

class BatchCommands {
 public:
  virtual ~BatchCommands() = default;

  // Refuses a job that this batch system cannot have, permanently.
  virtual std::expected<CommandLine, BatchRefusal> submit(const BatchJob& job) const = 0;
  virtual BatchSubmission submitted(const CommandEnd& end) const = 0;

  // Lists the jobs of these names; without names, all jobs of this user.
  virtual CommandLine list(const std::vector<std::string>& names) const = 0;
  virtual Result<BatchStates> listed(const CommandEnd& end) const = 0;

  virtual std::vector<CommandLine> cancel(const std::vector<std::string>& names) const = 0;
  // The result of one command of cancel().
  virtual Result<void> done(const CommandEnd& end) const = 0;
};

}  // namespace attune
