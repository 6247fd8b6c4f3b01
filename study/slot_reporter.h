#pragma once
// The reporter of a function that optimize() calls: its reports are events of the study. For one
// call of the function, and its thread only.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "study/optimizer.h"
#include "trial/scratch_folder.h"

namespace attune {

class SlotReporter final : public StatusReporter {
 public:
  SlotReporter(Optimizer& optimizer, std::size_t slot, TrialId id)
      : optimizer_(optimizer), slot_(slot), id_(id) {}
  SlotReporter(const SlotReporter&) = delete;
  SlotReporter& operator=(const SlotReporter&) = delete;

  void report(const json& metrics) override;
  std::string trial_name() const override { return "trial_" + trial_id(); }
  std::string trial_id() const override { return std::to_string(id_); }
  std::filesystem::path log_directory() const override { return {}; }

  // Nobody continues from a checkpoint of a study. They are saved in a temporary folder of this
  // call, so that a function that saves checkpoints runs here unchanged.
  std::filesystem::path make_checkpoint_dir(std::int64_t step) override;
  void set_checkpoint(const std::filesystem::path& path) override;

  const std::optional<json>& last() const { return last_; }

 private:
  Optimizer& optimizer_;
  const std::size_t slot_;
  const TrialId id_;
  std::int64_t step_ = 0;
  std::optional<json> last_ = {};
  ScratchFolder scratch_;
};

}  // namespace attune
