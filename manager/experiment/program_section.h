#pragma once
// Reads the parts of a TaskProgram that experiment files and the roles of workload files have in
// common, though under different keys. Mistakes become findings of the section.
#include <filesystem>
#include <functional>
#include <string>

#include "manager/experiment/section.h"
#include "manager/experiment/task_program.h"

namespace attune {

// The shell command; empty if the key is missing, which is no finding.
std::string read_shell_command(const Section& section, const std::string& key);

// The absolute path of an existing folder. Relative paths are relative to `base`, which is also the
// default.
std::filesystem::path read_code_directory(const Section& section, const std::string& key,
                                          const std::filesystem::path& base);

// Reads the key `environment` into `program`, whose `gpus` are set already. Calls `check` for each
// variable; it may add findings at `name` of the section that it gets.
using CheckVariable = std::function<void(const Section& environment, const std::string& name,
                                         const std::string& value)>;
void read_environment(const Section& section, const CheckVariable& check, TaskProgram& program);

// Reads `command`, `codeDirectory`, `environment` and `needs.gpu` of a role. A role has no search
// space, and so no placeholders; it reports in the metrics file.
TaskProgram read_role_program(const Section& role, const std::filesystem::path& base);

}  // namespace attune
