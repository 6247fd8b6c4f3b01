#pragma once
// Builds what the shim of a trial executes: a shell, the user's command, and the arguments by which
// it gets the parameters.
#include <filesystem>
#include <string>
#include <vector>

#include "backends/command/placeholders.h"
#include "base/result.h"

namespace attune {

// How the command gets the parameters, besides the file parameter.cfg.
enum class TrialArguments {
  none,
  // `--NAME VALUE` for each, and `--st_checkpoint_dir DIRECTORY`. A text as it is, anything else as
  // JSON text.
  command_line,
  // The same with True, False and None, as Syne Tune passes str(value).
  python_line,
  // `--st_config_json_filename FILE --st_checkpoint_dir DIRECTORY`; FILE holds the parameters.
  json_file,
};

struct TrialCommand {
  std::vector<std::string> arguments;  // [0] is the path of the shell
  std::string config;                  // the content of FILE; empty if the command does not want it
};

// `command` is the user's, with placeholders for `names` (backends/command/shell_script.h). Further
// arguments, as `how` says, are added at its end. A command that is more than one simple command
// places them itself by "$@". The shell takes all of them as words, whatever they contain.
// `parameter_text` is that of TrialStart; `folder` is the trial's.
Result<TrialCommand> trial_command(const std::string& command, const ParameterNames& names,
                                   TrialArguments how, const std::string& parameter_text,
                                   const std::filesystem::path& folder);

}  // namespace attune
