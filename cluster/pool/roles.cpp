#include "cluster/pool/roles.h"

#include <algorithm>

#include "base/check.h"

namespace attune {

std::filesystem::path role_file(const std::filesystem::path& folder, std::string_view role) {
  const auto found = std::ranges::find(kRoleFiles, role, &RoleFile::role);
  ATTUNE_CHECK(found != kRoleFiles.end());
  return folder / found->file;
}

std::filesystem::path role_file_of(const std::filesystem::path& said, std::string_view role) {
  // Earlier versions had one file for all roles. Experiments of theirs may still name it when they
  // are resumed.
  if (said.filename() == "coordinator.json") return role_file(said.parent_path(), role);
  std::error_code none;
  const bool file = std::filesystem::exists(said, none) ? !std::filesystem::is_directory(said, none)
                                                        : said.extension() == ".json";
  return file ? said : role_file(said, role);
}

}  // namespace attune
