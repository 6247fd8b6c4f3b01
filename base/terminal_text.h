#pragma once
#include <string>
#include <string_view>

namespace attune {

// Names and messages of others, for a terminal: control characters, which could move its cursor or
// do worse, as \x1b; line ends and tabs stay.
std::string terminal_text(std::string_view text);
// The same for one line of a file or of a terminal: line ends and tabs, too, become \x0a and \x09.
std::string terminal_line(std::string_view text);

}  // namespace attune
