#pragma once
// What makes one batch system differ from another one: which programs are run, and what their words
// mean. Pure; Slurm's is slurm_commands.h.
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

  // A job that this batch system cannot have is refused here, permanently.
  virtual std::expected<CommandLine, BatchRefusal> submit(const BatchJob& job) const = 0;
  virtual BatchSubmission submitted(const CommandEnd& end) const = 0;

  // Of these names; of none: of all jobs of this user.
  virtual CommandLine list(const std::vector<std::string>& names) const = 0;
  virtual Result<BatchStates> listed(const CommandEnd& end) const = 0;

  virtual std::vector<CommandLine> cancel(const std::vector<std::string>& names) const = 0;
  // Of one command of cancel().
  virtual Result<void> done(const CommandEnd& end) const = 0;
};

}  // namespace attune
