// Point <-> JSON: the exact text of outputs, tolerant and strict imports.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "space/space.h"
#include "tests/space/space_helpers.h"

namespace attune::point_json_test {

constexpr double kNone = Point::kInactive;

const char* const kMixed = R"({
  "opt": {"_type":"choice","_value":[
      {"_name":"sgd","momentum":{"_type":"uniform","_value":[0,1]},
       "decay":{"_type":"choice","_value":[{"_name":"none"},
           {"_name":"step","gamma":{"_type":"loguniform","_value":[0.01,1]}}]}},
      {"_name":"adam","beta":{"_type":"quniform","_value":[0,1,0.1]}}]},
  "batch": {"_type":"choice","_value":[16, 1.0, "16", null, [1,2], {"a":1,"b":2}, true]},
  "layers": {"_type":"randint","_value":[1,8]},
  "hidden": {"_type":"quniform","_value":[16,512,16]},
  "scale": {"_type":"lognormal","_value":[0,1]}})";

// With the members of `changes` in place of those of a right object; null removes.
std::string import_error(const std::string& changes) {
  const Space space = space_of(kMixed);
  json parameters = parse_json(R"({"opt":{"_name":"adam","beta":0.5},"batch":16,"layers":3,
                                   "hidden":32.0,"scale":1.5})")
                        .value();
  REQUIRE(point_from_json(space, parameters));
  const json patch = parse_json(changes).value();
  for (const auto& [key, value] : patch.items()) {
    if (value == "REMOVE") {
      parameters.erase(key);
    } else {
      parameters[key] = value;
    }
  }
  const auto point = point_from_json(space, parameters);
  return point ? "no error" : point.error().message;
}

double imported(const std::string& spec, const std::string& value) {
  const Space space = space_of("{\"x\":" + spec + "}");
  const auto point = point_from_json(space, parse_json("{\"x\":" + value + "}").value());
  INFO((point ? "" : point.error().message));
  REQUIRE(point);
  return point->values[0];
}

TEST_CASE("candidates are written verbatim, q types as reals, branches with their name first") {
  const Space space = space_of(kMixed);
  const auto text = [&](std::vector<double> values) {
    return dump_json(to_json(space, Point{std::move(values)}));
  };
  CHECK(text({0, 0.5, 1, 0.1, kNone, 0, 3, 176, 2.5}) ==
        R"({"opt":{"_name":"sgd","momentum":0.5,"decay":{"_name":"step","gamma":0.1}},)"
        R"("batch":16,"layers":3,"hidden":176.0,"scale":2.5})");
  CHECK(text({0, 0.5, 0, kNone, kNone, 1, 3, 176, 2.5}) ==
        R"({"opt":{"_name":"sgd","momentum":0.5,"decay":{"_name":"none"}},)"
        R"("batch":1.0,"layers":3,"hidden":176.0,"scale":2.5})");
  CHECK(text({1, kNone, kNone, kNone, 3 * 0.1, 5, 1, 16, 1}) ==
        R"({"opt":{"_name":"adam","beta":0.30000000000000004},)"
        R"("batch":{"a":1,"b":2},"layers":1,"hidden":16.0,"scale":1.0})");
}

TEST_CASE("layer and input choices are written with their indices") {
  const Space space = space_of(R"({
    "op":{"_type":"layer_choice","_value":["conv","pool"]},
    "in":{"_type":"input_choice","_value":{"candidates":["a","b","c"],"n_chosen":2}}})");
  const Point point{{1, 0b101}};
  const json expected =
      parse_json(R"({"op":{"_value":"pool","_idx":1},"in":{"_value":["a","c"],"_idx":[0,2]}})")
          .value();
  CHECK(to_json(space, point) == expected);
  CHECK(point_from_json(space, expected).value() == point);

  const std::string bad =
      GENERATE(R"({"op":"pool","in":{"_value":["a","c"],"_idx":[0,2]}})",
               R"({"op":{"_value":"pool","_idx":0},"in":{"_value":["a","c"],"_idx":[0,2]}})",
               R"({"op":{"_value":"pool","_idx":2},"in":{"_value":["a","c"],"_idx":[0,2]}})",
               R"({"op":{"_value":"pool","_idx":-1},"in":{"_value":["a","c"],"_idx":[0,2]}})",
               R"({"op":{"_value":"pool","_idx":1},"in":{"_value":["a"],"_idx":[0]}})",
               R"({"op":{"_value":"pool","_idx":1},"in":{"_value":["a","a"],"_idx":[0,0]}})",
               R"({"op":{"_value":"pool","_idx":1},"in":{"_value":["a","b"],"_idx":[0,2]}})",
               R"({"op":{"_value":"pool","_idx":1},"in":{"_value":["a","d"],"_idx":[0,3]}})",
               R"({"op":{"_value":"pool","_idx":1},"in":["a","c"]})");
  CAPTURE(bad);
  const auto refused = point_from_json(space, parse_json(bad).value());
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message,
             Catch::StartsWith("parameters.op: ") || Catch::StartsWith("parameters.in: "));
}

TEST_CASE("imports are taken as they are written") {
  const std::string choice = R"({"_type":"choice","_value":["1",1.0,1,true,{"a":1,"b":2}]})";
  CHECK(imported(choice, "1") == 2);
  CHECK(imported(choice, "1.0") == 1);
  CHECK(imported(choice, "\"1\"") == 0);
  CHECK(imported(choice, "true") == 3);
  CHECK(imported(choice, R"({"b":2,"a":1})") == 4);
  CHECK(imported(R"({"_type":"choice","_value":[16,[32]]})", "16.0") == 0);
  CHECK(imported(R"({"_type":"choice","_value":[16,[32]]})", "[32.0]") == 1);
  CHECK(imported(R"({"_type":"choice","_value":[7,7]})", "7") == 0);
  CHECK(imported(R"({"_type":"randint","_value":[0,8]})", "3.0") == 3);
  CHECK(imported(R"({"_type":"uniform","_value":[0,8]})", "3") == 3);
  CHECK(imported(R"({"_type":"quniform","_value":[0,8,3]})", "4.5") == 4.5);  // not rounded
  CHECK(imported(R"({"_type":"qnormal","_value":[0,8,3]})", "-4.5") == -4.5);
  CHECK(imported(R"({"_type":"uniform","_value":[0.1,0.3]})", "0.30000000000000004") == 0.3);
  CHECK(imported(R"({"_type":"uniform","_value":[0.1,0.3]})", "0.09999999999999999") == 0.1);
}

TEST_CASE("errors of imports name the path") {
  struct Row {
    std::string changes, error;
  };
  const auto row = GENERATE(values<Row>({
      {R"({"batch":"REMOVE"})", "parameters.batch: missing"},
      {R"({"layer":3})", R"(parameters.layer: not in the search space; did you mean "layers"?)"},
      {R"({"_name":3})", "parameters._name: not in the search space"},
      {R"({"batch":17})",
       R"(parameters.batch: 17 is not a candidate; candidates: 16, 1.0, "16", null, [1,2], )"
       R"({"a":1,"b":2}, true)"},
      {R"({"batch":false})",
       R"(parameters.batch: false is not a candidate; candidates: 16, 1.0, "16", null, [1,2], )"
       R"({"a":1,"b":2}, true)"},
      {R"({"layers":8})", "parameters.layers: 8 is outside of [1, 8)"},
      {R"({"layers":1.5})", "parameters.layers: must be an integer, not 1.5"},
      {R"({"layers":"3"})", "parameters.layers: must be a finite number, not \"3\""},
      {R"({"hidden":512.1})", "parameters.hidden: 512.1 is outside of [16, 512]"},
      {R"({"hidden":true})", "parameters.hidden: must be a finite number, not true"},
      {R"({"scale":-1})", "parameters.scale: -1 is negative, which a lognormal is not"},
      {R"({"scale":NaN})", "parameters.scale: must be a finite number, not null"},
      {R"({"opt":"adam"})", "parameters.opt: must be an object with _name, not a string"},
      {R"({"opt":{"_name":"lion"}})",
       R"(parameters.opt._name: "lion" is not a candidate; candidates: "sgd", "adam")"},
      {R"({"opt":{"_name":"adam"}})", "parameters.opt.beta: missing"},
      {R"({"opt":{"_name":"adam","beta":0.1,"momentum":0.1}})",
       "parameters.opt.momentum: not in the search space"},
      {R"({"opt":{"_name":"sgd","momentum":0.1,"decay":{"_name":"step","gamma":2}}})",
       "parameters.opt.decay.gamma: 2 is outside of [0.01, 1]"},
  }));
  CAPTURE(row.changes);
  CHECK(import_error(row.changes) == row.error);
}

TEST_CASE("what is known of parameters that do not fit") {
  const Space space = space_of(kMixed);
  const auto known = [&](const char* text) {
    std::string shown;
    for (const double value : known_values(space, parse_json(text).value()))
      shown += (shown.empty() ? "" : " ") + (std::isnan(value) ? "-" : fmt::format("{}", value));
    return shown;
  };
  CHECK(known(R"({"opt":{"_name":"adam","beta":0.5},"batch":16,"layers":3,"hidden":32.0,
                  "scale":1.5})") == "1 - - - 0.5 0 3 32 1.5");
  CHECK(known(R"({"opt":{"_name":"adam","beta":7},"batch":17,"layers":9,"hidden":32.0,
                  "other":1})") == "1 - - - - - - 32 -");
  CHECK(known(R"({"opt":{"_name":"sgd","decay":{"_name":"step","gamma":0.5}},"scale":1})") ==
        "0 - 1 0.5 - - - - 1");
  CHECK(known(R"({"opt":{"_name":"lion"},"layers":3})") == "- - - - - - 3 - -");
  CHECK(known("[1]") == "- - - - - - - - -");
}

TEST_CASE("parameters must be an object") {
  CHECK(point_from_json(Space{}, json::array()).error().message ==
        "parameters: must be an object, not an array");
  CHECK(point_from_json(Space{}, json::object()).value() == Point{});
}

TEST_CASE("points are equal by value, and inactive equals inactive") {
  CHECK(Point{{1, kNone}} == Point{{1, kNone}});
  CHECK_FALSE(Point{{1, kNone}} == Point{{1, 2}});
  CHECK_FALSE(Point{{1, 2}} == Point{{1, 3}});
  CHECK_FALSE(Point{{1}} == Point{{1, 2}});
}

}  // namespace attune::point_json_test
