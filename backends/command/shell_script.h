#pragma once
// Turns a shell command with placeholders (backends/command/placeholders.h) into a script that
// receives the values as data.
#include <string>
#include <vector>

#include "backends/command/placeholders.h"
#include "base/result.h"

namespace attune {

struct ShellScript {
  std::string text;                     // for bash -c
  std::vector<std::string> parameters;  // names; their values are the first arguments after $0
};

// Replaces each placeholder by a quoted reference to a shell variable, whatever quotes it stands
// in. So its value is one word and is never read as code; only a shell that the command itself
// starts (bash -c "echo {x}", ssh) reads it again. The script sets the variables from its
// positional parameters and shifts these away before the command: functions, `set --` and "$@"
// belong to the user.
//
// Errors name the cure. A placeholder must not stand in a here-document, because the quotes would
// become part of its text, nor where the shell would evaluate the value
// (ShellScanner::evaluated()).
Result<ShellScript> shell_script(const std::string& command, const ParameterNames& names);

}  // namespace attune
