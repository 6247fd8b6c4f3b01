// What every tuner that knows of several objectives and of limits must do with them.
#include <catch2/catch.hpp>
#include <cmath>

#include "math/hypervolume.h"
#include "tests/tuners/tuner_world.h"

namespace attune::several_objectives_test {

using Values = std::vector<double>;

const char* const kUnitSquare = R"({"x": {"_type": "uniform", "_value": [0, 1]},
                                    "y": {"_type": "uniform", "_value": [0, 1]}})";
const std::vector<Objective> kTwo = {{"default", false}, {"score", true}};

// The best trade-offs are the segment between (0.2, 0.3) and (0.8, 0.3).
Metrics near_two_corners(const Values& at) {
  const auto distance = [&](double x) { return std::hypot(at[0] - x, at[1] - 0.3); };
  return {{"default", distance(0.2)}, {"score", -distance(0.8)}};
}

double covered(const std::string& tuner, const json& arguments, std::uint64_t seed, int trials) {
  TunerWorld world(tuner, kUnitSquare, arguments, seed, kTwo);
  Values rows;
  for (int i = 0; i < trials; ++i) {
    const Values values = world.values();
    const Metrics metrics = near_two_corners(values);
    rows.insert(rows.end(), {metrics[0].second, -metrics[1].second});
    world.completed(world.next - 1, values, metrics);
  }
  return hypervolume(rows, 2, Values{1, 1});
}

struct Known {
  std::string tuner;
  json arguments;
};

const std::vector<Known> kTuners = {
    {"GP", {}}, {"TPE", {}}, {"auto", {}}, {"FreezeThaw", {{"max_t", 1}}}};

// The tuners above, and those that know of limits with one objective only.
std::vector<Known> tuners_with_limits() {
  std::vector<Known> all = kTuners;
  all.push_back({"TuRBO", {}});
  return all;
}

TEST_CASE("several objectives: more of the front is found than by random search") {
  for (const auto& [tuner, arguments] : kTuners) {
    CAPTURE(tuner);
    double found = 0, random = 0;
    for (const std::uint64_t seed : {1, 2, 3}) {
      found += covered(tuner, arguments, seed, 50) / 3;
      random += covered("Random", {}, seed, 50) / 3;
    }
    // The front covers 0.82 of the square.
    CHECK(found > random + 0.3 * (0.82 - random));
  }
}

TEST_CASE("several objectives: without the second the first is not enough") {
  // Of results that lack a metric nothing is known but that they are not good.
  for (const auto& [tuner, arguments] : kTuners) {
    CAPTURE(tuner);
    TunerWorld world(tuner, kUnitSquare, arguments, 1, kTwo);
    for (int i = 0; i < 25; ++i) {
      const Values values = world.values();
      Metrics metrics = near_two_corners(values);
      if (i % 3 == 0) metrics.pop_back();
      world.completed(world.next - 1, values, metrics);
    }
    world.values();
  }
}

TEST_CASE("limits: the best is sought where they are kept") {
  // Best without the limit at (0.2, 0.3), with it at (0.6, 0.3).
  const std::vector<Objective> limited = {{"loss", false}, {"x", true, 0.6}};
  for (const auto& [tuner, arguments] : tuners_with_limits()) {
    CAPTURE(tuner);
    TunerWorld world(tuner, kUnitSquare, arguments, 2, limited);
    double best = HUGE_VAL;
    int kept = 0;
    for (int i = 0; i < 60; ++i) {
      const Values values = world.values();
      const double loss = std::hypot(values[0] - 0.2, values[1] - 0.3);
      world.completed(world.next - 1, values, Metrics{{"loss", loss}, {"x", values[0]}});
      if (values[0] < 0.6) continue;
      best = std::min(best, loss);
      kept += i >= 30 ? 1 : 0;
    }
    CHECK(best < 0.44);
    CHECK(kept >= 10);
  }
}

TEST_CASE("limits: while nothing keeps them they are what is sought") {
  // A twentieth of the space keeps it, where the objective is at its worst.
  const std::vector<Objective> limited = {{"loss", false}, {"distance", false, 0.12}};
  for (const auto& [tuner, arguments] : tuners_with_limits()) {
    CAPTURE(tuner);
    int found = 0;
    for (const std::uint64_t seed : {1, 2, 3}) {
      TunerWorld world(tuner, kUnitSquare, arguments, seed, limited);
      bool kept = false;
      for (int i = 0; i < 50 && !kept; ++i) {
        const Values values = world.values();
        const double distance = std::hypot(values[0] - 0.9, values[1] - 0.9);
        world.completed(world.next - 1, values,
                        Metrics{{"loss", values[0]}, {"distance", distance}});
        kept = distance <= 0.12;
      }
      found += kept ? 1 : 0;
    }
    CHECK(found == 3);
  }
}

TEST_CASE("several objectives: saved and loaded at any time they go on the same") {
  const std::vector<Objective> three = {{"default", false}, {"score", true}, {"x", true, 0.3}};
  for (const auto& [tuner, arguments] : kTuners) {
    CAPTURE(tuner);
    TunerWorld world(tuner, kUnitSquare, arguments, 3, three);
    for (int i = 0; i < 24; ++i) {
      TunerWorld other(tuner, kUnitSquare, arguments, 99, three);
      const auto state = parse_json(dump_json(world.tuner->save()));
      REQUIRE(state);
      REQUIRE(other.tuner->load(*state));
      other.next = world.next;
      const Values values = world.values();
      REQUIRE(other.values() == values);
      Metrics metrics = near_two_corners(values);
      metrics.emplace_back("x", values[0]);
      if (i % 5 == 4) {
        world.failed(world.next - 1, values);
      } else if (i % 4 != 3) {
        world.completed(world.next - 1, values, metrics);
      }
    }
  }
}

TEST_CASE("several objectives: four of them, with a front of many results") {
  // The cost of a proposal must not explode: with exact boxes this would take minutes.
  const std::vector<Objective> four = {
      {"default", false}, {"a", false}, {"b", false}, {"c", false}};
  TunerWorld world("GP", kUnitSquare, {{"cold_start_num", 150}}, 1, four);
  for (int i = 0; i < 152; ++i) {
    const Values at = world.values();
    // Trade-offs everywhere: nearly all results belong to the front.
    world.completed(world.next - 1, at,
                    Metrics{{"default", at[0]}, {"a", -at[0]}, {"b", at[1]}, {"c", -at[1]}});
  }
}

TEST_CASE("limits: with one objective they go on the same from any state") {
  const std::vector<Objective> limited = {{"loss", false}, {"x", true, 0.6}};
  for (const std::string tuner : {"TuRBO", "auto"}) {
    CAPTURE(tuner);
    TunerWorld world(tuner, kUnitSquare, {}, 3, limited);
    for (int i = 0; i < 24; ++i) {
      TunerWorld other(tuner, kUnitSquare, {}, 99, limited);
      const auto state = parse_json(dump_json(world.tuner->save()));
      REQUIRE(state);
      REQUIRE(other.tuner->load(*state));
      other.next = world.next;
      const Values values = world.values();
      REQUIRE(other.values() == values);
      const double loss = std::hypot(values[0] - 0.2, values[1] - 0.3);
      if (i % 5 == 4) {
        world.failed(world.next - 1, values);
      } else if (i % 4 != 3) {
        world.completed(world.next - 1, values, Metrics{{"loss", loss}, {"x", values[0]}});
      }
    }
  }
}

TEST_CASE("limits: a state of auto without TuRBO, as a former version saved it, is loaded") {
  const std::vector<Objective> limited = {{"loss", false}, {"x", true, 0.6}};
  TunerWorld world("auto", kUnitSquare, {}, 3, limited);
  for (int i = 0; i < 12; ++i) {
    const Values values = world.values();
    world.completed(world.next - 1, values, Metrics{{"loss", values[1]}, {"x", values[0]}});
  }
  json state = world.tuner->save();
  state["members"].erase("TuRBO");
  TunerWorld other("auto", kUnitSquare, {}, 99, limited);
  REQUIRE(other.tuner->load(state));
  other.next = world.next;
  for (int i = 0; i < 12; ++i) {
    const Values values = other.values();
    other.completed(other.next - 1, values, Metrics{{"loss", values[1]}, {"x", values[0]}});
  }
}

TEST_CASE("several objectives: huge and tiny and equal results") {
  for (const auto& [tuner, arguments] : kTuners) {
    for (const double unit : {1e300, 1e-300, 0.0}) {
      CAPTURE(tuner, unit);
      TunerWorld world(tuner, kUnitSquare, arguments, 4,
                       {{"a", false}, {"b", false}, {"c", false, unit / 2}});
      for (int i = 0; i < 20; ++i) {
        const Values values = world.values();
        CHECK((values[0] >= 0 && values[0] <= 1));
        world.completed(world.next - 1, values,
                        Metrics{{"a", values[0] * unit},
                                {"b", -values[1] * unit},
                                {"c", (values[0] - 0.5) * unit}});
      }
    }
  }
}

}  // namespace attune::several_objectives_test
