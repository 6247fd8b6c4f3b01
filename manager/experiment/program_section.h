#pragma once
// The parts of a TaskProgram that an experiment file and a role of a workload have in common, each
// under its own keys. What is wrong is a finding at the key.
#include <filesystem>
#include <functional>
#include <string>

#include "manager/experiment/section.h"
#include "manager/experiment/task_program.h"

namespace attune {

// The shell command, as it is; empty when there is none, which is no finding.
std::string read_shell_command(const Section& section, const std::string& key);

// A folder that is there, by default `base`, which relative paths are relative to; absolute.
std::filesystem::path read_code_directory(const Section& section, const std::string& key,
                                          const std::filesystem::path& base);

// The key `environment`, for program.gpus. `check` may find more about a value, at `name` of the
// section that it gets.
using CheckVariable = std::function<void(const Section& environment, const std::string& name,
                                         const std::string& value)>;
void read_environment(const Section& section, const CheckVariable& check, TaskProgram& program);

// `command`, `codeDirectory`, `environment` and `needs` of a role. Nothing is searched for, so
// there are no placeholders. It reports in the metrics file.
TaskProgram read_role_program(const Section& role, const std::filesystem::path& base);

}  // namespace attune
