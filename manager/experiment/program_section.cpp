#include "manager/experiment/program_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxVariable = 100'000;

bool is_variable(std::string_view name) {
  const auto letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  return !name.empty() && (letter(name[0]) || name[0] == '_') &&
         std::ranges::all_of(
             name, [&](char c) { return letter(c) || c == '_' || (c >= '0' && c <= '9'); });
}

}  // namespace

std::string read_shell_command(const Section& section, const std::string& key) {
  const auto command = section.text(key);
  if (command && command->find('\0') != std::string::npos)
    section.error(key, "a byte 0 is in it, which no command can hold");
  return command.value_or("");
}

fs::path read_code_directory(const Section& section, const std::string& key, const fs::path& base) {
  std::error_code error;
  fs::path directory = fs::weakly_canonical(base / section.text(key).value_or("."), error);
  if (!fs::is_directory(directory, error))
    section.error(key, fmt::format("{} is not a directory", directory.string()));
  return directory;
}

void read_environment(const Section& top, const CheckVariable& check, TaskProgram& program) {
  const auto section = top.section("environment");
  if (!section) return;
  for (const auto& [name, value] : section->value().items()) {
    if (!is_variable(name))
      section->error(name, "a name of letters, digits and '_' is needed for a variable");
    if (name.starts_with("NNI_") || name.starts_with("ATTUNE_"))
      section->error(name, "variables NNI_... and ATTUNE_... are set by attune itself");
    if (name == "CUDA_VISIBLE_DEVICES" && program.gpus != GpuUse::inherit)
      section->error(name, "attune sets it, since the number of GPUs is given");
    // A number or boolean becomes its text, as in OMP_NUM_THREADS: 4.
    std::string text = value.is_string() ? value.get<std::string>() : dump_json(value);
    if (value.is_structured() || value.is_null())
      section->error(name, "a text or a number expected; quote what begins with a brace: \"{lr}\"");
    // The kernel refuses longer variables and zero bytes. A placeholder may still make a value too
    // long.
    if (text.find('\0') != std::string::npos || text.size() > kMaxVariable)
      section->error(name,
                     fmt::format("at most {} bytes are possible, none of them 0", kMaxVariable));
    check(*section, name, text);
    program.environment.emplace_back(name, std::move(text));
  }
}

TaskProgram read_role_program(const Section& role, const fs::path& base) {
  TaskProgram program;
  program.command = read_shell_command(role, "command");
  if (program.command.empty()) role.error("command", "missing: the shell command of the task");
  program.code_directory = read_code_directory(role, "codeDirectory", base);
  if (const auto needs = role.section("needs"); needs && needs->number("gpu", 0).value_or(0) > 0)
    program.gpus = GpuUse::assign;
  read_environment(role, [](const auto&, const auto&, const auto&) {}, program);
  return program;
}

}  // namespace attune
