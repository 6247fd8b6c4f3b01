#include "backends/report/regex.h"

#include <catch2/catch.hpp>

namespace attune::regex_test {

using Outcome = Regex::Outcome;

Outcome find(const std::string& pattern, const std::string& text) {
  const auto regex = Regex::compile(pattern);
  REQUIRE(regex.has_value());
  Regex::Match match;
  return regex->find(text, match);
}

TEST_CASE("regex: the work of a search is bounded, not that of one place where it begins") {
  const std::string pattern = GENERATE(R"(\S+=(?<default>[\d.]+))", R"(\S++=(?<default>[\d.]+))",
                                       R"((?<default>.*.*.*)=y)", R"((a+)+(?<default>b)$)");
  CAPTURE(pattern);
  const auto regex = Regex::compile(pattern);
  REQUIRE(regex.has_value());
  Regex::Match match;
  CHECK(regex->find(std::string(Regex::kMaxText - 10, 'a') + "y= xb", match) ==
        Outcome::too_costly);
  CHECK(match.steps < 50'000'000);  // a second
}

TEST_CASE("regex: simple ones are not costly, however long the text") {
  const std::string filler = GENERATE(std::string(4000, 'x'), std::string(8000, ' '));
  const std::string pattern = GENERATE(R"(.*loss=(?<default>\S+))", R"(loss=(?<default>\S+))",
                                       R"(^.*?loss=(?<default>\S+)$)", R"(\bloss=(?<default>\d))");
  CAPTURE(pattern);
  CHECK(find(pattern, filler + " loss=3") == Outcome::found);
  CHECK(find(pattern, filler) == Outcome::none);
}

TEST_CASE("regex: of a long text the beginning is searched") {
  CHECK(find("(?<default>b)", std::string(Regex::kMaxText - 1, 'a') + "b") == Outcome::found);
  CHECK(find("(?<default>b)", std::string(Regex::kMaxText, 'a') + "b") == Outcome::none);
}

TEST_CASE("regex: a search says what it has cost") {
  const auto regex = Regex::compile(R"(\S+=(?<default>\d))");
  REQUIRE(regex.has_value());
  Regex::Match match;
  CHECK(regex->find("a=x", match) == Outcome::none);
  const std::uint64_t few = match.steps;
  CHECK(regex->find(std::string(1000, 'a') + "=x", match) == Outcome::none);
  CHECK(match.steps > 100 * few);
}

}  // namespace attune::regex_test
