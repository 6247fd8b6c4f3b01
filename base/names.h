#pragma once
// Names that come from outside: from a message, a file, the command line, the daemon, a trial.
#include <string_view>

#include "base/result.h"

namespace attune {

// Whether a text can name something that is shown, stored, or becomes the name of a file or a
// folder: no part of a path, no option, no hidden file. 1 to 200 letters, digits, '-', '_' and '.'
// of ASCII, the first of them a letter, a digit or '_'. The error says `what` it should name, the
// text without its control characters, and the rule.
Result<void> check_name(std::string_view what, std::string_view name);

// Whether a text can be shown to people on one line: UTF-8 without control characters, 1 to 300
// bytes. For what others have named, as machines. The error as above.
Result<void> check_printable(std::string_view what, std::string_view text);

}  // namespace attune
