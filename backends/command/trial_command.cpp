#include "backends/command/trial_command.h"

#include <unistd.h>

#include <algorithm>

#include "backends/command/shell_script.h"
#include "base/json.h"

namespace attune {

namespace {

std::string argument_text(const json& value, bool python) {
  if (value.is_string()) return value.get<std::string>();
  if (python && value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (python && value.is_null()) return "None";
  return dump_json(value);
}

Result<void> add_arguments(TrialArguments how, const std::string& parameter_text,
                           const std::filesystem::path& folder, TrialCommand& result) {
  const json payload = TRY(parse_json(parameter_text));
  const json& parameters = payload.at("parameters");  // parameter_values() has seen it
  if (how == TrialArguments::json_file) {
    result.config = dump_json(parameters);
    result.arguments.insert(result.arguments.end(),
                            {"--st_config_json_filename", (folder / "config.json").string()});
  } else {
    for (const auto& [name, value] : parameters.items()) {
      result.arguments.push_back("--" + name);
      result.arguments.push_back(argument_text(value, how == TrialArguments::python_line));
    }
  }
  result.arguments.insert(result.arguments.end(),
                          {"--st_checkpoint_dir", (folder / "checkpoint").string()});
  return {};
}

}  // namespace

Result<TrialCommand> trial_command(const std::string& command, const ParameterNames& names,
                                   TrialArguments how, const std::string& parameter_text,
                                   const std::filesystem::path& folder) {
  const std::string shell = ::access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
  ShellScript script = TRY(shell_script(command, names));
  TrialCommand result;
  result.arguments = {shell, "-c", script.text};
  if (how == TrialArguments::none && script.parameters.empty()) return result;
  if (how != TrialArguments::none) {
    std::string& text = result.arguments.back();
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    if (text.find("$@") == std::string::npos) text += R"( "$@")";
  }
  result.arguments.push_back(shell);  // $0
  const ParameterValues values = TRY(parameter_values(parameter_text));
  for (const std::string& name : script.parameters)
    result.arguments.push_back(value_as_text(values, name));
  if (how != TrialArguments::none) TRY(add_arguments(how, parameter_text, folder, result));
  if (std::ranges::any_of(result.arguments, [](const std::string& word) {
        return word.find('\0') != std::string::npos;
      }))
    return fail("a value holds a byte 0, which no argument of a command can");
  return result;
}

}  // namespace attune
