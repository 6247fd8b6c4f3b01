#include "base/terminal_text.h"

#include <catch2/catch.hpp>

namespace attune::terminal_text_test {

using namespace std::string_literals;

TEST_CASE("a terminal sees control characters as text") {
  const std::string text =
      "a\x1b[2J\x7f\0b\xc2\x9b"
      "c\xc3\xa9\n\td"s;
  CHECK(terminal_text(text) == "a\\x1b[2J\\x7f\\x00b\\x9bc\xc3\xa9\n\td");
  CHECK(terminal_line(text) == "a\\x1b[2J\\x7f\\x00b\\x9bc\xc3\xa9\\x0a\\x09d");
  CHECK(terminal_text("\xc2").size() == 1);  // cut in the middle of a character
  CHECK(terminal_text("").empty());
}

}  // namespace attune::terminal_text_test
