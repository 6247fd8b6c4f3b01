#include "plugins/process/command_words.h"

#include <catch2/catch.hpp>

namespace attune::command_words_test {

using Words = std::vector<std::string>;

std::string error_of(const std::string& text) {
  const auto words = command_words(text);
  return words ? "no error" : words.error().message;
}

TEST_CASE("a command line becomes the words that a shell would make") {
  CHECK(command_words("python3  -B\tmine.py ").value() == Words{"python3", "-B", "mine.py"});
  CHECK(command_words(R"(a 'b $c' "d 'e'" f\ g h'i'"j")").value() ==
        Words{"a", "b $c", "d 'e'", "f g", "hij"});
  CHECK(command_words(R"('' "" x)").value() == Words{"", "", "x"});
  CHECK(command_words(R"("a\"b\\c\d\$" 'e\')").value() == Words{R"(a"b\c\d$)", R"(e\)"});
}

TEST_CASE("what only a shell could carry out is refused") {
  for (const std::string text :
       {"a | b", "a > b", "a $HOME", "a \"$HOME\"", "a *.py", "a; b", "a `b`", "~/a"}) {
    CAPTURE(text);
    CHECK(error_of(text).find("is for a shell") != std::string::npos);
  }
  CHECK(error_of("a 'b") == "' without its end");
  CHECK(error_of("a \"b") == "\" without its end");
  CHECK(error_of("a \\") == "a backslash ends the command");
  CHECK(error_of(" \t") == "the command is empty");
}

}  // namespace attune::command_words_test
