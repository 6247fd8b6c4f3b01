#pragma once
// The file of `attune coordinator FILE`: a commander and its roles. docs/coordinator.md, "Running a
// workload".
#include <filesystem>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "coordinator/commander.h"

namespace attune {

struct Workload {
  std::string commander;  // its name
  json settings;          // as make_commander takes them; roles have their program
};

// `directory`: of the coordinator, where the roles' worker files and the policies go. Paths in the
// file are relative to it. Errors name the file, the line and the key.
Result<Workload> read_workload(const std::filesystem::path& file,
                               const std::filesystem::path& directory);

}  // namespace attune
