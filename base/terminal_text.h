#pragma once
#include <string>
#include <string_view>

namespace attune {

// Makes a foreign name or message safe for a terminal: control characters, which could move the
// cursor or do worse, become text such as \x1b. Line ends and tabs stay.
std::string terminal_text(std::string_view text);
// The same for one line of a file or of a terminal: line ends and tabs become \x0a and \x09, too.
std::string terminal_line(std::string_view text);

}  // namespace attune
