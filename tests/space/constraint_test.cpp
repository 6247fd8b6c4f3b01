#include "space/constraint.h"

#include <catch2/catch.hpp>

#include "space/parse.h"

namespace attune::constraint_test {

Space space() {
  return parse_space(parse_json(R"({
    "lr": {"_type": "loguniform", "_value": [0.001, 10]},
    "batch": {"_type": "choice", "_value": [16, 32, 64.5]},
    "on": {"_type": "choice", "_value": [false, true]},
    "n": {"_type": "randint", "_value": [0, 10]},
    "word": {"_type": "choice", "_value": [1, "two"]},
    "weight-decay": {"_type": "uniform", "_value": [0, 1]},
    "some": {"_type": "input_choice", "_value": {"candidates": [1, 2], "n_chosen": 1}},
    "opt": {"_type": "choice", "_value": [
      {"_name": "adam", "eps": {"_type": "uniform", "_value": [0, 1]},
                        "same": {"_type": "uniform", "_value": [0, 1]}},
      {"_name": "sgd", "same": {"_type": "uniform", "_value": [0, 1]}}]}
  })")
                         .value())
      .value();
}

bool holds(const std::string& text, const json& parameters) {
  Space s = space();
  const auto set = set_constraints(s, {text});
  INFO(text << (set ? "" : ": " + set.error().message));
  REQUIRE(set.has_value());
  json all = {{"lr", 0.5},
              {"batch", 32},
              {"on", true},
              {"n", 3},
              {"word", 1},
              {"weight-decay", 0},
              {"some", {{"_value", {1}}, {"_idx", {0}}}},
              {"opt", {{"_name", "sgd"}, {"same", 0.5}}}};
  for (const auto& [key, value] : parameters.items()) all[key] = value;
  return s.feasible(point_from_json(s, all).value());
}

std::string error(const std::string& text) {
  Space s = space();
  const auto set = set_constraints(s, {"lr < 1", text});
  CHECK(s.constraints.empty());
  return set ? "" : set.error().message;
}

TEST_CASE("constraint: over reals, integers, and choices of numbers and booleans") {
  CHECK(holds("lr * batch < 17", json::object()));
  CHECK_FALSE(holds("lr * batch < 16", json::object()));  // 0.5 * 32, not 0.5 * 1
  CHECK(holds("batch == 64.5", {{"batch", 64.5}}));
  CHECK(holds("on && n >= 3", json::object()));
  CHECK_FALSE(holds("on && n >= 3", {{"on", false}}));
  CHECK_FALSE(holds("n != 3 || lr > 1", json::object()));
  CHECK(holds("on ? n < 4 : n > 4", json::object()));
  CHECK(holds("1 < 2", json::object()));
  CHECK(holds("abs(log(_e) - 1) + abs(log10(100) - 2) < 1e-9 && _pi > 3", json::object()));
  CHECK_FALSE(holds("sqrt(lr - 1) < 5", json::object()));  // not a number
}

TEST_CASE("constraint: one on a parameter that is not active says nothing") {
  CHECK(holds("eps > 0.5", json::object()));
  CHECK_FALSE(holds("eps > 0.5", {{"opt", {{"_name", "adam"}, {"same", 0}, {"eps", 0.25}}}}));
  CHECK(holds("eps > 0.5", {{"opt", {{"_name", "adam"}, {"same", 0}, {"eps", 0.75}}}}));
}

TEST_CASE("constraint: mistakes are named, with their place") {
  CHECK(
      error("lr * bach < 10") ==
      R"(constraints[1] "lr * bach < 10": unknown parameter "bach" at position 5; did you mean "batch"?)");
  CHECK_THAT(
      error("weight-decay < 1"),
      Catch::EndsWith(R"(unknown parameter "decay" at position 7; "weight-decay" cannot )"
                      R"(stand in a constraint: its name is not letters, digits and _ alone)"));
  CHECK_THAT(error("lr <"), Catch::Contains("position"));
  CHECK_THAT(error("(lr < 1"), Catch::Contains("parenthesis"));
  CHECK_THAT(error(""), Catch::Contains("constraints[1] \"\": "));
  CHECK_THAT(error("lr = 1"), Catch::Contains("\"=\" at position 3 assigns; equality is \"==\""));
  CHECK_THAT(error("lr < 1, n < 2"), Catch::Contains("several expressions"));
  CHECK_THAT(error("word < 2"),
             Catch::Contains("parameter \"word\" is not a number: it may be \"two\""));
  CHECK_THAT(error("some < 2"), Catch::Contains("parameter \"some\" is not a number"));
  CHECK_THAT(error("opt < 2"), Catch::Contains("parameter \"opt\" is not a number"));
  CHECK_THAT(error("same < 2"), Catch::Contains("several parameters have the name \"same\""));
}

TEST_CASE("constraint: copies of a space keep theirs, setting replaces") {
  Space s = space();
  REQUIRE(set_constraints(s, {"n < 5"}).has_value());
  const Space copy = s;
  REQUIRE(set_constraints(s, {}).has_value());
  Point point{{1, 0, 0, 7, 0, 0, 1, 1, Point::kInactive, Point::kInactive, 0}};
  CHECK(s.feasible(point));
  CHECK_FALSE(copy.feasible(point));
}

}  // namespace attune::constraint_test
