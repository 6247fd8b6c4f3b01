#include "rungs/levels.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "tests/support/scheduler_traces.h"

namespace attune::levels_test {

const json& cases() {
  static const json all = read_trace(traces_folder() / "syne_unit_cases.json");
  return all;
}

TEST_CASE("rungs: levels are Syne Tune's") {
  int checked = 0;
  for (const json& one : cases()["successive_halving_rung_levels"]) {
    if (!one["rung_levels"].is_null()) continue;
    std::optional<std::int64_t> increment;
    if (!one["rung_increment"].is_null()) increment = one["rung_increment"];
    const double factor = one["reduction_factor"].is_null() ? 3 : double(one["reduction_factor"]);
    CAPTURE(one.dump());
    CHECK(syne_levels(one["grace_period"], factor, one["max_t"], increment) ==
          one["levels"].get<std::vector<std::int64_t>>());
    ++checked;
  }
  CHECK(checked >= 10);
}

TEST_CASE("rungs: cutoffs are Syne Tune's") {
  int checked = 0;
  for (const json& one : cases()["rung_quantile"]) {
    const bool maximise = one["mode"] == "max";
    SortedNumbers losses;
    for (const double value : one["values"]) losses.insert(maximise ? -value : value);
    const auto cutoff = syne_cutoff(losses, one["prom_quant"], maximise);
    CAPTURE(one.dump());
    REQUIRE(cutoff.has_value() == !one["quantile"].is_null());
    if (cutoff) CHECK((maximise ? -*cutoff : *cutoff) == Approx(double(one["quantile"])));
    ++checked;
  }
  CHECK(checked >= 61);
}

TEST_CASE("rungs: brackets are drawn with Syne Tune's probabilities") {
  for (const json& one : cases()["bracket_distribution"]) {
    auto levels = one["rung_levels_plus_max_t"].get<std::vector<std::int64_t>>();
    const std::int64_t max_t = levels.back();
    levels.pop_back();
    const auto found = syne_bracket_probabilities(levels, max_t, one["num_brackets"]);
    const auto expected = one["prob"].get<std::vector<double>>();
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]));
  }
}

TEST_CASE("rungs: milestones of Ray's brackets, a lost one included") {
  CHECK(ray_milestones(81, 1, 3, 0) == std::vector<double>{1, 3, 9, 27, 81});
  CHECK(ray_milestones(81, 1, 3, 2) == std::vector<double>{9, 27, 81});
  CHECK(ray_milestones(100, 1, 4, 0) == std::vector<double>{1, 4, 16, 64});
  CHECK(ray_milestones(1000, 1, 10, 0) == std::vector<double>{1, 10, 100});
  CHECK(ray_milestones(2, 1, 4, 3).empty());
}

TEST_CASE("rungs: more milestones make a bracket of Ray more probable by e each") {
  const auto p = ray_bracket_probabilities(std::vector<std::size_t>{5, 4, 3});
  CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1));
  CHECK(p[0] / p[1] == Approx(std::exp(1)));
  CHECK(p[1] / p[2] == Approx(std::exp(1)));
}

}  // namespace attune::levels_test
