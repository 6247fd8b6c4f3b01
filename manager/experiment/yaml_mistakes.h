#pragma once
// Explains why a text is not YAML: guesses the mistake that a person has made, and names the cure.
#include <string>
#include <string_view>

#include "manager/experiment/findings.h"

namespace attune {

// What the parser has found.
enum class YamlFault {
  tab,             // a tab in an indentation
  value_in_value,  // a second `: ` in a line, or a value below a text
  end_of_map,      // something that belongs to no key of the mapping, or no item of the list
  unclosed,        // a { or [ that is not closed, or lacks a comma
  unopened,        // a } or ] that was not opened
  reserved,        // a text that begins with a reserved character
  list_in_line,    // `key: - item`
  behind_block,    // text in the line of a | or >
  escape,          // an unknown escape in double quotes
  other,
};

struct YamlMistake {
  Mark at;
  std::string message;  // empty: unknown
};

// `at`: where the parser stopped. The mistake may be at another place.
YamlMistake explain_yaml(std::string_view text, Mark at, YamlFault fault);

}  // namespace attune
