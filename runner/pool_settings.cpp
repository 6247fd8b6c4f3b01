#include "runner/pool_settings.h"

#include <filesystem>

namespace attune {

Result<PoolSettings> read_pool_settings(const std::optional<Section>& section,
                                        const std::string& base) {
  PoolSettings settings;
  if (!section) return settings;
  TRY(section->check_keys(
      {"coordinator", "workers", "listen", "advertise", "labels", "queueLimit"}));
  const auto coordinator = TRY(section->text("coordinator"));
  const auto workers = TRY(section->integer("workers", 0, 1000));
  const auto listen = TRY(section->text("listen"));
  if (coordinator) {
    if (workers || listen || section->find("advertise") != nullptr)
      return section->error("coordinator",
                            "workers, listen and advertise are for a coordinator of the "
                            "experiment's own; leave them away");
    std::filesystem::path path = std::filesystem::path(base) / *coordinator;
    if (std::error_code none; std::filesystem::is_directory(path, none)) path /= "coordinator.json";
    settings.coordinator = path.lexically_normal().string();
  }
  settings.workers = static_cast<int>(workers.value_or(settings.workers));
  settings.listen = listen.value_or(settings.listen);
  settings.advertise = TRY(section->text("advertise")).value_or("");
  settings.labels = TRY(section->texts("labels"));
  settings.queue_limit = TRY(section->duration("queueLimit")).value_or(0);
  return settings;
}

}  // namespace attune
