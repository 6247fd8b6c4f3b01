#pragma once
// A shell command with placeholders (backends/command/placeholders.h): the values reach it as data.
#include <string>
#include <vector>

#include "backends/command/placeholders.h"
#include "base/result.h"

namespace attune {

struct ShellScript {
  std::string text;                     // for bash -c
  std::vector<std::string> parameters;  // names; their values are the first arguments behind $0
};

// Each placeholder becomes a quoted reference to a shell variable, whatever quotes it stands in, so
// that its value is one word, and never read as code; a shell that the command itself starts (bash
// -c "echo {x}", ssh) reads it again. The variables are set from the positional parameters in front
// of the command, and those are shifted away: functions, `set --` and "$@" are the user's.
//
// Errors name the cure: a placeholder in a here-document, whose text the quotes would become part
// of, or where the shell would evaluate the value (ShellScanner::evaluated()).
Result<ShellScript> shell_script(const std::string& command, const ParameterNames& names);

}  // namespace attune
