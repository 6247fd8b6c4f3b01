#include "backends/trial_command.h"

#include <unistd.h>

#include "base/json.h"

namespace attune {

Result<TrialCommand> trial_command(const std::string& command, TrialArguments how,
                                   const std::string& parameter_text,
                                   const std::filesystem::path& folder) {
  const std::string shell = ::access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
  TrialCommand result;
  if (how == TrialArguments::none) {
    result.arguments = {shell, "-c", command};
    return result;
  }
  std::string script = command;
  script.erase(script.find_last_not_of(" \t\r\n") + 1);
  if (script.find("$@") == std::string::npos) script += R"( "$@")";
  result.arguments = {shell, "-c", script, shell};  // the last one is $0

  const json payload = TRY(parse_json(parameter_text));
  const auto parameters = payload.find("parameters");
  if (!payload.is_object() || parameters == payload.end() || !parameters->is_object()) {
    return fail(
        "the configuration has no object \"parameters\", which the arguments of the trial "
        "are made of");
  }
  if (how == TrialArguments::json_file) {
    result.config = dump_json(*parameters);
    result.arguments.insert(result.arguments.end(),
                            {"--st_config_json_filename", (folder / "config.json").string()});
  } else {
    for (const auto& [name, value] : parameters->items()) {
      result.arguments.push_back("--" + name);
      result.arguments.push_back(value.is_string() ? value.get<std::string>() : dump_json(value));
    }
  }
  result.arguments.insert(result.arguments.end(),
                          {"--st_checkpoint_dir", (folder / "checkpoint").string()});
  return result;
}

}  // namespace attune
