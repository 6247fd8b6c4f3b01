#include "study/slot_reporter.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace attune {
namespace fs = std::filesystem;

SlotReporter::~SlotReporter() {
  std::error_code ignored;
  if (!scratch_.empty()) fs::remove_all(scratch_, ignored);
}

void SlotReporter::report(const json& metrics) {
  if (!metrics.is_number() && !metrics.is_object()) {
    throw std::invalid_argument("a report must be a number or an object, not " +
                                std::string(json_type_name(metrics)));
  }
  const Verdict verdict = optimizer_.report(slot_, id_, step_++, metrics);
  last_ = metrics;
  if (verdict.stop) throw TrialStopped();
}

fs::path SlotReporter::make_checkpoint_dir(std::int64_t step) {
  if (step < 0) throw std::runtime_error("the step of a checkpoint must not be negative");
  if (scratch_.empty()) {
    std::string pattern = (fs::temp_directory_path() / "attune-study-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("cannot make " + pattern + ": " + std::strerror(errno));
    }
    scratch_ = pattern;
  }
  const fs::path folder = scratch_ / ("checkpoint_" + std::to_string(step));
  fs::remove_all(folder);  // filesystem_error is a runtime_error, and names the path
  fs::create_directory(folder);
  return folder;
}

void SlotReporter::set_checkpoint(const fs::path& path) {
  const fs::path inside = fs::absolute(path).lexically_normal().lexically_relative(scratch_);
  const std::string name = inside.empty() ? "" : inside.begin()->string();
  if (scratch_.empty() || !name.starts_with("checkpoint_") || !fs::is_directory(scratch_ / name)) {
    throw std::runtime_error(path.string() + " lies in no folder of make_checkpoint_dir()");
  }
}

}  // namespace attune
