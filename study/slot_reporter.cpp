#include "study/slot_reporter.h"

namespace attune {
namespace fs = std::filesystem;

void SlotReporter::report(const json& metrics) {
  check_metrics(metrics);
  const Verdict verdict = optimizer_.report(slot_, id_, step_++, metrics);
  last_ = metrics;
  if (verdict.stop) throw TrialStopped();
}

fs::path SlotReporter::make_checkpoint_dir(std::int64_t step) {
  const fs::path folder = scratch_.path() / checkpoint_name(step);
  fs::remove_all(folder);  // filesystem_error is a runtime_error, and names the path
  fs::create_directory(folder);
  return folder;
}

void SlotReporter::set_checkpoint(const fs::path& path) { checkpoint_name(path, scratch_.path()); }

}  // namespace attune
