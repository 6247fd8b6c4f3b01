#pragma once
// Names that come from outside: from a message, a file, the command line, the daemon, a trial.
#include <string_view>

#include "base/result.h"

namespace attune {

// Checks whether a text can name something that is shown, stored, or becomes the name of a file or
// directory: it must not be a path, an option or a hidden file. The rule: 1 to 200 ASCII letters,
// digits, '-', '_' and '.', of which the first is a letter, a digit or '_'. The error says `what`
// was to be named, shows the text without its control characters, and says the rule.
Result<void> check_name(std::string_view what, std::string_view name);

// Checks whether a text can be shown on one line: UTF-8 without control characters, 1 to 300 bytes.
// For names that others chose, such as those of machines. The error is as above.
Result<void> check_printable(std::string_view what, std::string_view text);

}  // namespace attune
