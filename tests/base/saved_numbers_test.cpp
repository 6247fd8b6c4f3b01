#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/saved_numbers.h"

namespace attune::saved_numbers_test {

TEST_CASE("saved numbers: every bit comes back, damage is an error that names the key") {
  const double infinity = std::numeric_limits<double>::infinity();
  const json saved = save_numbers(std::vector<double>{1.5, NAN, -infinity, -0.0, 0.1});
  const auto back = numbers(saved);
  REQUIRE(back);
  REQUIRE(back->size() == 5);
  CHECK((*back)[0] == 1.5);
  CHECK(std::isnan((*back)[1]));
  CHECK((*back)[2] == -infinity);
  CHECK(std::signbit((*back)[3]));
  CHECK((*back)[4] == 0.1);
  CHECK(numbers(save_numbers({}))->empty());

  CHECK_FALSE(numbers(json("x")));
  CHECK_FALSE(numbers(json("AAAA")));  // three bytes
  CHECK_FALSE(numbers(json::array({1.5})));
  const auto names = [](const auto& result, const std::string& key) {
    return !result && result.error().message.find(key) != std::string::npos;
  };
  CHECK(names(integer_at(json{{"a", 1.5}}, "a"), "\"a\""));
  CHECK(names(number_at(json::object(), "b"), "\"b\""));
  CHECK(names(text_at(json{{"c", 1}}, "c"), "\"c\""));
  CHECK_FALSE(array_at(json(3), "a"));
  CHECK_FALSE(object_at(json{{"a", json::array()}}, "a"));
  CHECK(trials_at(json{{"a", {3, -1, 3}}}, "a") == std::set<TrialId>{-1, 3});
  CHECK(names(trials_at(json{{"a", {3, 1.5}}}, "a"), "\"a\""));
  CHECK(names(trials_at(json{{"a", "3"}}, "a"), "\"a\""));
}

}  // namespace attune::saved_numbers_test
