#pragma once
// What a person has probably done where a text is not YAML, in plain words and with the cure.
#include <string>
#include <string_view>

#include "manager/experiment/findings.h"

namespace attune {

// What the parser met.
enum class YamlFault {
  tab,             // in an indentation
  value_in_value,  // a second `: `, or a value under a text
  end_of_map,      // something that belongs to no key of the mapping or item of the list
  unclosed,        // a { or [, or a comma is missing in it
  unopened,        // a } or ]
  reserved,        // a character with which no text begins
  list_in_line,    // `key: - item`
  behind_block,    // text in the line of a | or >
  escape,
  other,
};

struct YamlMistake {
  Mark at;
  std::string message;  // empty: unknown
};

// `at`: where the parser stopped.
YamlMistake explain_yaml(std::string_view text, Mark at, YamlFault fault);

}  // namespace attune
