// The point that is tried first: defaults, preferred values, the middle of the rest.
#include "space/first_point.h"

#include <catch2/catch.hpp>

#include "space/constraint.h"
#include "tests/space/space_helpers.h"

namespace attune::first_point_test {

std::string first(const Space& space) {
  const auto point = first_point(space);
  return point ? dump_json(to_json(space, *point)) : "none";
}

TEST_CASE("a space without defaults and priors has no first point") {
  CHECK(first(space_of(R"({"x":{"_type":"uniform","_value":[0,1]}})")) == "none");
  CHECK(first(unread_space({{"x", {{"_default", 1}}}})) == "none");
}

TEST_CASE("defaults come before preferred values, and these before the middle") {
  CHECK(first(space_of(R"({
      "a": {"_type": "loguniform", "_value": [0.01, 1], "_default": 0.5, "_prior": {"_value": 0.1}},
      "b": {"_type": "randint", "_value": [0, 9], "_prior": {"_value": 7, "_sure": 0.9}},
      "c": {"_type": "loguniform", "_value": [1, 16]},
      "d": {"_type": "randint", "_value": [0, 9]},
      "e": {"_type": "qnormal", "_value": [3.2, 1, 1]},
      "f": {"_type": "choice", "_value": ["u", "v"]},
      "g": {"_type": "choice", "_value": [16, 32, 64]},
      "h": {"_type": "input_choice", "_value": {"candidates": ["k", "l", "m"], "n_chosen": 2}}})")) ==
        R"({"a":0.5,"b":7,"c":4.0,"d":4,"e":3.0,"f":"u","g":32,)"
        R"("h":{"_value":["k","l"],"_idx":[0,1]}})");
}

TEST_CASE("an option is named, and its own defaults count where it is chosen") {
  const std::string options =
      R"([{"_name":"adam"},{"_name":"sgd","m":{"_type":"uniform","_value":[0,1],"_default":0.9}}])";
  CHECK(first(space_of(R"({"o":{"_type":"choice","_default":"sgd","_value":)" + options + "}}")) ==
        R"({"o":{"_name":"sgd","m":0.9}})");
  CHECK(first(space_of(R"({"o":{"_type":"choice","_value":)" + options + "}}")) ==
        R"({"o":{"_name":"adam"}})");
  CHECK(first(space_of(R"({"o":{"_type":"layer_choice","_value":["a","b"],"_default":"b"},)"
                       R"("i":{"_type":"input_choice","_default":["z","x"],"_value":)"
                       R"({"candidates":["x","y","z"],"n_chosen":2}}})")) ==
        R"({"o":{"_value":"b","_idx":1},"i":{"_value":["x","z"],"_idx":[0,2]}})");
}

TEST_CASE("what is not stated gives way to constraints, what is stated does not") {
  const std::string text = R"({"x":{"_type":"uniform","_value":[0,1],"_default":0.3},
                               "y":{"_type":"uniform","_value":[0,1]}})";
  Space space = space_of(text);
  REQUIRE(set_constraints(space, {"x + y < 0.5"}));
  const auto point = first_point(space);
  REQUIRE(point);
  CHECK(point->values[0] == 0.3);
  CHECK(space.feasible(*point));
  CHECK(*first_point(space) == *point);
  REQUIRE(set_constraints(space, {"x > 0.5"}));
  CHECK(!space.feasible(*first_point(space)));
}

}  // namespace attune::first_point_test
