#pragma once
// What the shim of a trial executes: a shell, the user's command, and how that gets the parameters.
#include <filesystem>
#include <string>
#include <vector>

#include "backends/command/placeholders.h"
#include "base/result.h"

namespace attune {

// How the command gets the parameters, besides the file parameter.cfg.
enum class TrialArguments {
  none,
  // `--NAME VALUE` for each, and `--st_checkpoint_dir FOLDER`. A text as it is, anything else as
  // JSON text.
  command_line,
  // The same with True, False and None, as Syne Tune passes str(value).
  python_line,
  // `--st_config_json_filename FILE --st_checkpoint_dir FOLDER`; FILE holds the parameters.
  json_file,
};

struct TrialCommand {
  std::vector<std::string> arguments;  // [0] is the path of the shell
  std::string config;                  // the content of FILE; empty when none is wanted
};

// What the user wrote: a command with placeholders for `names` (backends/command/shell_script.h),
// and more arguments. These are added at the end of `command`; where it is more than one simple
// command it says itself where they belong, by "$@". The shell sees all of it as words, whatever is
// in them. `parameter_text` as in TrialStart; `folder` is the trial's.
Result<TrialCommand> trial_command(const std::string& command, const ParameterNames& names,
                                   TrialArguments how, const std::string& parameter_text,
                                   const std::filesystem::path& folder);

}  // namespace attune
