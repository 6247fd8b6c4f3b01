#include "base/names.h"

#include <catch2/catch.hpp>
#include <string>

namespace attune::names_test {

using namespace std::string_view_literals;

TEST_CASE("names: what may become a path") {
  for (const char* good : {"t0012", "t0012-3", "abcd2345", "a.b", "_x", "7"}) {
    CAPTURE(good);
    CHECK(check_name("the trial", good).has_value());
  }
  for (const std::string_view bad : {""sv, "."sv, ".."sv, "../x"sv, "-rf"sv, ".x"sv, "a/b"sv, "/"sv,
                                     "a\0b"sv, "a b"sv, "a\nb"sv, "a\x1b[2J"sv, "\xc3\xa4"sv}) {
    CAPTURE(bad);
    CHECK_FALSE(check_name("the trial", bad).has_value());
  }
  CHECK(check_name("the trial", std::string(200, 'x')).has_value());
  CHECK_FALSE(check_name("the trial", std::string(201, 'x')).has_value());
  const std::string why = check_name("the trial", "a\x1b\0b"sv).error().message;
  CHECK(why.find("the trial \"a??b\" cannot be used: a name has 1 to 200 letters") == 0);
}

TEST_CASE("names: what people are shown on one line") {
  for (const std::string_view good : {"node7 (job 12)"sv, "\xc3\xa4rger.local"sv, "a/b"sv, "."sv}) {
    CAPTURE(good);
    CHECK(check_printable("host", good).has_value());
  }
  for (const std::string_view bad :
       {""sv, "a\0b"sv, "a\nb"sv, "a\tb"sv, "\x1b[2J"sv, "a\x7f"sv, "a\xc2\x9b"sv, "a\xff"sv}) {
    CAPTURE(bad);
    CHECK_FALSE(check_printable("host", bad).has_value());
  }
  CHECK_FALSE(check_printable("host", std::string(301, 'x')).has_value());
  CHECK(check_printable("host", "\x1b[2J").error().message.find("host \"?[2J\"") == 0);
}

}  // namespace attune::names_test
