#pragma once
// The roles of those who connect to a coordinator. Each role has a secret of its own, and a file in
// the coordinator's folder with the address and that secret, for processes that share the folder.
#include <array>
#include <filesystem>
#include <string_view>

namespace attune {

inline constexpr char kWorkerRole[] = "worker";  // runs tasks
inline constexpr char kClientRole[] = "client";  // submits tasks, gives orders
inline constexpr char kViewRole[] = "view";      // only looks
inline constexpr char kDataRole[] = "data";      // the program of a task

struct RoleFile {
  std::string_view role, file;
};
inline constexpr std::array<RoleFile, 4> kRoleFiles = {{{kWorkerRole, "worker.json"},
                                                        {kClientRole, "client.json"},
                                                        {kViewRole, "view.json"},
                                                        {kDataRole, "program.json"}}};

// The file of a role in a coordinator's folder. `role` must be one of the above.
std::filesystem::path role_file(const std::filesystem::path& folder, std::string_view role);
// The file that a user means with `said`: a coordinator's folder or the file of a role. A path that
// does not exist counts as a file if its name ends in .json, else as a folder.
std::filesystem::path role_file_of(const std::filesystem::path& said, std::string_view role);

}  // namespace attune
