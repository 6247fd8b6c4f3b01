#include "manager/experiment/pool_settings.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/names.h"
#include "cluster/pool/roles.h"
#include "manager/experiment/dial_address.h"
#include "manager/experiment/listen_address.h"

namespace attune {

PoolSettings read_pool_settings(const std::optional<Section>& section, const std::string& base) {
  PoolSettings settings;
  if (!section) return settings;
  section->check_keys({"coordinator", "workers", "listen", "advertise", "labels", "queueLimit"});
  const auto coordinator = section->text("coordinator");
  const auto workers = section->integer("workers", 0, 1000);
  if (coordinator) {
    if (workers || section->find("listen") != nullptr || section->find("advertise") != nullptr)
      section->error("coordinator",
                     "workers, listen and advertise are for a coordinator of the experiment's own; "
                     "leave them away");
    settings.coordinator = (std::filesystem::path(base) / *coordinator).lexically_normal().string();
  }
  settings.workers = static_cast<int>(workers.value_or(settings.workers));
  const ListenAddress address = read_listen_address(*section);
  settings.listen = address.listen;
  settings.advertise = address.advertise;
  settings.labels = section->texts("labels");
  for (const std::string& label : settings.labels) {
    if (const auto good = check_name("the label", label); !good)
      section->error("labels", good.error().message);
  }
  settings.queue_limit = section->duration("queueLimit").value_or(0);
  return settings;
}

Result<void> check_coordinator(const PoolSettings& settings) {
  if (settings.coordinator.empty()) return {};
  const std::filesystem::path file = role_file_of(settings.coordinator, kClientRole);
  std::error_code none;
  if (std::filesystem::exists(file, none)) return check_role(file, kClientRole);
  const std::filesystem::path folder = file.parent_path();
  if (std::filesystem::is_directory(folder, none)) return {};
  return fail(
      fmt::format("pool.coordinator: {} does not exist; it is the folder of a coordinator (attune "
                  "coordinator --dir), which manager and coordinator share",
                  folder.string()));
}

}  // namespace attune
