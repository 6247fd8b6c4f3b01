#include "trial/status_reporter.h"

#include <stdexcept>

namespace attune {

std::filesystem::path StatusReporter::make_checkpoint_dir(std::int64_t) {
  throw std::runtime_error("this trial keeps no checkpoints");
}

void StatusReporter::set_checkpoint(const std::filesystem::path&) {
  throw std::runtime_error("this trial keeps no checkpoints");
}

void StatusReporter::check_metrics(const json& metrics) {
  if (metrics.is_number() || metrics.is_object()) return;
  throw std::invalid_argument("a report is a number or an object of named values, not " +
                              std::string(json_type_name(metrics)));
}

std::string StatusReporter::checkpoint_name(std::int64_t step) {
  if (step < 0) throw std::runtime_error("the step of a checkpoint must not be negative");
  return "checkpoint_" + std::to_string(step);
}

std::string StatusReporter::checkpoint_name(const std::filesystem::path& path,
                                            const std::filesystem::path& folder) {
  const auto inside = std::filesystem::absolute(path).lexically_normal().lexically_relative(
      std::filesystem::absolute(folder).lexically_normal());
  const std::string name = inside.empty() ? "" : inside.begin()->string();
  if (!name.starts_with("checkpoint_") || !std::filesystem::is_directory(folder / name)) {
    throw std::runtime_error(path.string() + " lies in no folder of make_checkpoint_dir()");
  }
  return name;
}

}  // namespace attune
