#pragma once
// What one can be to a coordinator. Each role has a secret of its own, and a file in the
// coordinator's folder that holds the address and that secret, for those who share the folder.
#include <array>
#include <filesystem>
#include <string_view>

namespace attune {

inline constexpr char kWorkerRole[] = "worker";  // runs tasks
inline constexpr char kClientRole[] = "client";  // submits tasks, gives orders
inline constexpr char kViewRole[] = "view";      // looks
inline constexpr char kDataRole[] = "data";      // the program of a task

struct RoleFile {
  std::string_view role, file;
};
inline constexpr std::array<RoleFile, 4> kRoleFiles = {{{kWorkerRole, "worker.json"},
                                                        {kClientRole, "client.json"},
                                                        {kViewRole, "view.json"},
                                                        {kDataRole, "program.json"}}};

// In the folder of a coordinator; `role` is one of those.
std::filesystem::path role_file(const std::filesystem::path& folder, std::string_view role);
// What people say names a coordinator: its folder, also before that is there, or a file of a role,
// whose name ends in .json.
std::filesystem::path role_file_of(const std::filesystem::path& said, std::string_view role);

}  // namespace attune
