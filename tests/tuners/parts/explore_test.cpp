#include "tuners/parts/explore.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "conformance/spaces.h"
#include "space/constraint.h"
#include "space/parse.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "tests/support/scheduler_traces.h"
#include "tests/tuners/parsed_space.h"
#include "tests/tuners/recording.h"

namespace attune::explore_test {

Mutable all(const Space& space) { return Mutable(space.params.size(), true); }

// One of Ray's cases as a space: a mutation "fn" is a number, a list a choice. A dictionary becomes
// the only option of a nested choice.
json as_space(const json& config, const json& mutations) {
  json space;
  for (const auto& [key, value] : config.items()) {
    const json mutation = mutations.value(key, json());
    if (mutation.is_array()) {
      space[key] = {{"_type", "choice"}, {"_value", mutation}};
    } else if (value.is_object()) {
      json option = as_space(value, mutation);
      option["_name"] = "only";
      space[key] = {{"_type", "choice"}, {"_value", {option}}};
    } else if (value.is_number_integer()) {
      space[key] = {{"_type", "randint"}, {"_value", {0, 1000}}};
    } else {
      space[key] = {{"_type", "uniform"}, {"_value", {0, 1000}}};
    }
  }
  return space;
}

json with_options(json config) {
  for (auto& [key, value] : config.items()) {
    if (value.is_object()) value["_name"] = "only";
  }
  return config;
}

std::string names_of(const json& mutations) {
  std::string names;
  for (const auto& [key, value] : mutations.items()) {
    names += (names.empty() ? "" : ",") + (value.is_object() ? names_of(value) : key);
  }
  return names;
}

std::set<std::string> outcomes(const Space& space, const Mutable& which, const Point& point,
                               const RayExplore& rule) {
  std::set<std::string> found;
  Rng rng(5);
  for (int i = 0; i < 300; ++i) {
    const Explored result = explore_as_ray(space, which, point, rule, rng);
    REQUIRE(result.changes.size() == 1);
    const std::string& change = result.changes[0];
    found.insert(dump_json(to_json(space, result.point)) + change.substr(change.find(' ')));
  }
  return found;
}

TEST_CASE("explore: as Ray, every outcome that Ray can have and no other") {
  const json cases = read_trace(traces_folder() / "ray_stoppers_explore_replay.json");
  int checked = 0;
  for (const json& one : cases["pbt_explore_possible_outcomes"]) {
    CAPTURE(one.dump());
    const Space space = parse(dump_json(as_space(one["config"], one["mutations"])));
    const Mutable which = mutable_parameters(space, names_of(one["mutations"])).value();
    RayExplore rule{.resample_probability = one["resample_probability"]};
    auto point = point_from_json(space, with_options(one["config"]));
    if (!point) {
      // A value that is not in its list: Ray draws another. Such a point cannot be, but one that is
      // always drawn again comes to the same.
      CHECK(one["config"]["v"] == 7);
      point = Point{{0}};
      rule.resample_probability = 1;
    }
    std::set<std::string> expected;
    for (const json& outcome : one["possible[new_config,ops]"]) {
      json operation = outcome[1];
      while (operation.is_object()) operation = json(operation.begin().value());
      const Point after = point_from_json(space, with_options(outcome[0])).value();
      expected.insert(dump_json(to_json(space, after)) + " " + operation.get<std::string>());
    }
    CHECK(outcomes(space, which, *point, rule) == expected);
    ++checked;
  }
  CHECK(checked == 10);
}

// What each rule can make of the points of a space, all of its parameters.
TEST_CASE("explore: results lie in the space, whatever the rule") {
  for (const auto& [name, space] : conformance::test_spaces()) {
    CAPTURE(name);
    Rng rng(2);
    Point point = sample(space, rng);
    for (int i = 0; i < 600; ++i) {
      const RayExplore rule{.factors = {0.001, 1000}, .resample_probability = 0.02};
      Explored next;
      switch (i % 3) {
        case 0:
          next = explore_as_ray(space, all(space), point, rule, rng);
          break;
        case 1:
          next = explore_as_syne(space, all(space), point, rule, rng);
          break;
        default:
          next = explore_as_nni(space, point, {.factor = 5, .resample_probability = 0.02}, rng);
      }
      const auto checked = check_point(space, next.point);
      if (!checked) FAIL(checked.error().message);
      const auto back = point_from_json(space, to_json(space, next.point));
      if (!back) FAIL(back.error().message);
      point = next.point;
    }
  }
}

TEST_CASE("explore: numbers stay inside of their bounds") {
  const Space space = parse(R"({"u": {"_type": "uniform", "_value": [0.9, 1.1]},
      "i": {"_type": "randint", "_value": [9, 11]},
      "q": {"_type": "quniform", "_value": [0, 10, 3]}})");
  std::set<double> u, i, q;
  Rng rng(1);
  for (int k = 0; k < 50; ++k) {
    const auto next =
        explore_as_ray(space, all(space), {{1, 10, 9}}, {.resample_probability = 0}, rng);
    u.insert(next.point.values[0]);
    i.insert(next.point.values[1]);
    q.insert(next.point.values[2]);
  }
  CHECK(u == std::set<double>{0.9, 1.1});
  CHECK(i == std::set<double>{9, 10});  // 8 and 12
  CHECK(q == std::set<double>{6, 9});   // 7.2; 10.8, which is clipped to 10 and then rounded
}

TEST_CASE("explore: only the named parameters change, and those that depend on them") {
  const Space space = parse(R"({"layer": {"_type": "choice", "_value": [
      {"_name": "a", "k": {"_type": "randint", "_value": [1, 100]}},
      {"_name": "b", "p": {"_type": "uniform", "_value": [0, 1]}}]},
      "lr": {"_type": "loguniform", "_value": [0.001, 1]}})");
  const Point point{{0, 50, Point::kInactive, 0.1}};
  Rng rng(1);
  const Mutable layer = mutable_parameters(space, " layer ").value();
  bool moved = false;
  for (int i = 0; i < 20; ++i) {
    const auto next = explore_as_ray(space, layer, point, {.resample_probability = 0}, rng);
    CHECK(next.point.values[3] == 0.1);
    if (next.point.values[0] == 0) {
      CHECK(next.point == point);
      CHECK(next.changes == std::vector<std::string>{"layer shift left (noop)"});
    } else {
      moved = true;
      CHECK_FALSE(next.point.active(1));
      CHECK(next.point.active(2));
      REQUIRE(next.changes.size() == 2);
      CHECK(next.changes[1] == "layer[1].p resample");
    }
  }
  CHECK(moved);
  CHECK(mutable_parameters(space, "lr,k").value() == Mutable{false, true, false, true});
  CHECK(mutable_parameters(space, "layer[0].k").value() == Mutable{false, true, false, false});
  CHECK(mutable_parameters(space, "lr,momentum").error().message == "momentum");
}

TEST_CASE("explore: a result that breaks a constraint is made again") {
  Space space = parse(R"({"x": {"_type": "uniform", "_value": [0, 10]},
                          "y": {"_type": "uniform", "_value": [0, 10]}})");
  SECTION("one that can be kept") {
    REQUIRE(set_constraints(space, {"x + y < 2.1"}));
    Rng rng(1);
    for (int i = 0; i < 50; ++i) {
      const auto next =
          explore_as_ray(space, all(space), {{1, 1}}, {.resample_probability = 0}, rng);
      CHECK(space.feasible(next.point));
      CHECK(next.changes.size() == 2);
    }
  }
  SECTION("one that no change keeps: the configuration stays") {
    REQUIRE(set_constraints(space, {"x + y == 2"}));
    Rng rng(1);
    const auto next = explore_as_ray(space, {true, false}, {{1, 1}}, {}, rng);
    CHECK(next.point == Point{{1, 1}});
    CHECK(next.changes.empty());
  }
}

TEST_CASE("explore: as Syne Tune, choices are always drawn again") {
  const Space space = parse(R"({"c": {"_type": "choice", "_value": [0, 1, 2, 3, 4]}})");
  Rng rng(1);
  std::set<double> found;
  for (int i = 0; i < 100; ++i) {
    found.insert(explore_as_syne(space, all(space), {{0}}, {.resample_probability = 0}, rng)
                     .point.values[0]);
  }
  CHECK(found.size() == 5);
}

TEST_CASE("explore: as NNI, one step by the rule of each domain") {
  struct Case {
    std::string domain;
    double value, low, high;
  };
  const auto [domain, value, low, high] = GENERATE(values<Case>({
      {R"({"_type":"uniform","_value":[-1,1]})", 0.1, -0.3, 0.5},
      {R"({"_type":"uniform","_value":[0,1]})", 0.9, 0.7, 1},
      {R"({"_type":"quniform","_value":[0,10,2]})", 4, 2, 6},
      {R"({"_type":"loguniform","_value":[1e-5,1]})", 1e-3, 1e-4, 1e-2},
      {R"({"_type":"qloguniform","_value":[1,100,1]})", 1, 1, 2},
      {R"({"_type":"normal","_value":[5,10]})", 1, -1, 3},
      {R"({"_type":"qnormal","_value":[0,10,3]})", 0, -3, 3},
      {R"({"_type":"lognormal","_value":[0,5]})", 1, std::exp(-1), std::exp(1)},
      {R"({"_type":"qlognormal","_value":[0,1,1]})", 0, 0, 1},
      {R"({"_type":"randint","_value":[0,5]})", 4, 3, 4},
      {R"({"_type":"choice","_value":["a","b","c"]})", 0, 0, 1},
  }));
  const Space space = parse("{\"x\":" + domain + "}");
  CAPTURE(domain);
  Rng rng(1);
  std::set<double> found;
  for (int i = 0; i < 40; ++i) {
    found.insert(
        explore_as_nni(space, {{value}}, {.resample_probability = 0}, rng).point.values[0]);
  }
  REQUIRE(found.size() == 2);
  CHECK(*found.begin() == Approx(low).margin(1e-12));
  CHECK(*found.rbegin() == Approx(high));
}

TEST_CASE("explore: of a subset one candidate is exchanged") {
  const Space space = parse(R"({"in": {"_type": "input_choice",
      "_value": {"candidates": ["a", "b", "c", "d"], "n_chosen": 2}}})");
  Rng rng(1);
  std::set<double> found;
  for (int i = 0; i < 60; ++i) {
    found.insert(
        explore_as_ray(space, all(space), {{3}}, {.resample_probability = 0}, rng).point.values[0]);
  }
  CHECK(found == std::set<double>{5, 6, 9, 10});
}

}  // namespace attune::explore_test
