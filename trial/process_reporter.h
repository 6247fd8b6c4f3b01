#pragma once
// The reporter of a function that is a process of its own. See trial/trial_main.h.
#include <filesystem>
#include <optional>
#include <string>

#include "trial/scratch_folder.h"
#include "trial/status_reporter.h"
#include "trial/trial.h"
#include "trial/trial_function.h"

namespace attune {

class ProcessReporter final : public StatusReporter {
 public:
  // Removes what an earlier attempt began to save and did not finish. A checkpoint that it was
  // about to replace counts again.
  explicit ProcessReporter(Trial& trial);
  ProcessReporter(const ProcessReporter&) = delete;
  ProcessReporter& operator=(const ProcessReporter&) = delete;

  // Throws std::runtime_error when the report cannot be written.
  void report(const json& metrics) override;
  std::string trial_name() const override { return "trial_" + trial_.id(); }
  std::string trial_id() const override { return trial_.id(); }
  std::filesystem::path log_directory() const override { return trial_.output_directory(); }
  std::filesystem::path make_checkpoint_dir(std::int64_t step) override;
  // Moves the checkpoint to its place: the path must not be used any longer. Flushes it to the disk
  // first, unless nobody keeps checkpoints.
  void set_checkpoint(const std::filesystem::path& path) override;

  // What an earlier attempt left: the checkpoint of the highest step.
  CheckpointDir newest_checkpoint() const;
  const std::optional<json>& last_report() const { return last_; }

 private:
  const std::filesystem::path& folder();

  Trial& trial_;
  ScratchFolder scratch_;  // where nobody keeps checkpoints
  std::optional<json> last_;
};

}  // namespace attune
