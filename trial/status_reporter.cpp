#include "trial/status_reporter.h"

#include <stdexcept>

namespace attune {

std::filesystem::path StatusReporter::make_checkpoint_dir(std::int64_t) {
  throw std::runtime_error("this trial keeps no checkpoints");
}

void StatusReporter::set_checkpoint(const std::filesystem::path&) {
  throw std::runtime_error("this trial keeps no checkpoints");
}

}  // namespace attune
