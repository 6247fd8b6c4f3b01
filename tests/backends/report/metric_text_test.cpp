#include "backends/report/metric_text.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::metric_text_test {

TEST_CASE("metric text: numbers as programs print them") {
  const auto [text, number] = GENERATE(table<std::string, double>({{"3", 3},
                                                                   {" -2.5 ", -2.5},
                                                                   {"+.5", .5},
                                                                   {"5.", 5},
                                                                   {"1e-05", 1e-5},
                                                                   {"1.5D+02", 150},
                                                                   {"2d-1", 0.2},
                                                                   {"inf", HUGE_VAL},
                                                                   {"-Infinity", -HUGE_VAL},
                                                                   {"1e400", HUGE_VAL},
                                                                   {"-1e400", -HUGE_VAL},
                                                                   {"1e-400", 0}}));
  INFO(text);
  CHECK(read_number(text) == number);
}

TEST_CASE("metric text: what is no number") {
  CHECK(std::isnan(read_number("nan").value()));
  for (const char* text : {"", " ", "abc", "1.5s", "0x10", "1 2", "--1", "+-1", "1,5", "e5"}) {
    INFO(text);
    CHECK_FALSE(read_number(text).has_value());
  }
}

// `regex` outlives the result, which names its groups.
MetricText found_in(const Regex& regex, const std::string& line) {
  Regex::Match match;
  REQUIRE(regex.find(line, match) == Regex::Outcome::found);
  return metric_text(match);
}

TEST_CASE("metric text: the groups of a match, both ways to name them") {
  const auto json_of = [](const std::string& pattern, const std::string& line) {
    return found_in(Regex::compile(pattern).value(), line).json;
  };
  CHECK(json_of(R"(iter (?<iter>\d+) residual (?P<default>\S+))", "x iter 7 residual 1e-3") ==
        R"({"iter": 7, "default": 0.001})");
  CHECK(json_of("a=(?<a>.*?);(b=(?<b>.*))?", "a=nan;") == R"({"a": NaN})");
  CHECK(json_of("(?|a=(?<v>.)|b=(?<v>.))", "b=2") == R"({"v": 2})");
  CHECK(json_of("(?<a>x)", "x").empty());
  const Regex regex = Regex::compile(R"(a=(?<a>\S+) b=(?<b>\S+))").value();
  const std::string line = "a=1 b=two";
  const MetricText bad = found_in(regex, line);
  CHECK(bad.json == R"({"a": 1})");
  CHECK(bad.bad_group == "b");
  CHECK(bad.bad_text == "two");
}

TEST_CASE("regex: mistakes name the byte, and a bad pattern is given up") {
  CHECK(Regex::compile("ab(c").error().message ==
        "the regular expression is wrong at byte 4: missing closing parenthesis");
  const Regex slow = Regex::compile("(a+)+(?<x>b)$").value();
  Regex::Match match;
  CHECK(slow.find(std::string(60, 'a') + "b c", match) == Regex::Outcome::too_costly);
  const Regex dot = Regex::compile("^(?<x>.)$").value();
  CHECK(dot.find("\xc3\xa4", match) == Regex::Outcome::found);
  CHECK(dot.find("\xff", match) == Regex::Outcome::none);
}

}  // namespace attune::metric_text_test
