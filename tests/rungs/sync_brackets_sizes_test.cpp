#include "rungs/sync_brackets_sizes.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/scheduler_traces.h"

namespace attune::sync_brackets_sizes_test {

const json& cases() {
  static const json all = read_trace(traces_folder() / "syne_unit_cases.json");
  return all;
}

TEST_CASE("brackets: sizes and levels are Syne Tune's") {
  int checked = 0;
  for (const json& one : cases()["sync_hyperband_geometric"]) {
    CAPTURE(one.dump());
    std::optional<std::size_t> most;
    if (!one["num_brackets"].is_null()) most = one["num_brackets"].get<std::size_t>();
    const auto brackets =
        geometric_brackets(one["min_resource"], one["max_resource"], one["reduction_factor"], most);
    const json& expected = one["brackets_size_level"];
    REQUIRE(brackets.size() == expected.size());
    for (std::size_t b = 0; b < brackets.size(); ++b) {
      REQUIRE(brackets[b].size() == expected[b].size());
      for (std::size_t r = 0; r < brackets[b].size(); ++r) {
        CHECK(brackets[b][r] == RungSize{expected[b][r][0], expected[b][r][1]});
        ++checked;
      }
    }
  }
  CHECK(checked >= 80);
}

TEST_CASE("brackets: the best go on as in Syne Tune, failed ones last") {
  int checked = 0;
  for (const json& one : cases()["sync_top_list_nan_is_failed"]) {
    CAPTURE(one.dump());
    std::vector<double> losses;
    std::vector<int> trials;
    for (const json& slot : one["rung"]) {
      trials.push_back(slot[0]);
      const double value = slot[1].is_null() ? NAN : slot[1].get<double>();
      losses.push_back(one["mode"] == "max" ? -value : value);
    }
    const auto best = best_slots(losses, one["new_len"]);
    std::vector<int> top, remaining;
    for (const std::size_t slot : best) top.push_back(trials[slot]);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (std::ranges::find(best, i) == best.end()) remaining.push_back(trials[i]);
    }
    CHECK(top == one["top"].get<std::vector<int>>());
    CHECK(remaining == one["remaining"].get<std::vector<int>>());
    ++checked;
  }
  CHECK(checked >= 20);
}

TEST_CASE("brackets: equal losses keep their order, and more than there are is all") {
  CHECK(best_slots(std::vector<double>{2, 1, 2, 1}, 3) == std::vector<std::size_t>{1, 3, 0});
  CHECK(best_slots(std::vector<double>{NAN, 5, NAN}, 9) == std::vector<std::size_t>{1, 0, 2});
  CHECK(best_slots({}, 2).empty());
}

TEST_CASE("brackets: exact powers, and levels that would round up to the largest") {
  // log 125 / log 5 is above 3 in floating point.
  CHECK(geometric_brackets(1, 125, 5, 1) ==
        std::vector<RungSizes>{{{125, 1}, {25, 5}, {5, 25}, {1, 125}}});
  CHECK(geometric_brackets(1, 243, 3, 1)[0].size() == 6);
  CHECK(geometric_brackets(7, 7, 3, {}) == std::vector<RungSizes>{{{1, 7}}});
  // 1, 2.5, 6.25, 15.625, which is 16.
  for (const RungSizes& sizes : geometric_brackets(1, 16, 2.5, {})) {
    for (std::size_t r = 1; r < sizes.size(); ++r) {
      CHECK(sizes[r - 1].level < sizes[r].level);
      CHECK(sizes[r - 1].slots > sizes[r].slots);
    }
  }
}

TEST_CASE("brackets: those of DEHB are the first one without its lowest rungs") {
  const RungSizes first = {{9, 1}, {3, 3}, {1, 9}};
  CHECK(nested_brackets(first, 2) == std::vector<RungSizes>{first, {{3, 3}, {1, 9}}});
  CHECK(nested_brackets(first, 9).size() == 3);
  for (const auto& path : traces("syne_dehb_")) {
    const json trace = read_trace(path);
    const json& args = trace["args"];
    const auto all =
        geometric_brackets(args["grace_period"], trace["T"], args["reduction_factor"], {});
    const auto nested = nested_brackets(all[0], all.size());
    const json& expected = trace["bracket_rungs"];
    REQUIRE(nested.size() == expected.size());
    for (std::size_t b = 0; b < nested.size(); ++b) {
      REQUIRE(nested[b].size() == expected[b].size());
      for (std::size_t r = 0; r < nested[b].size(); ++r) {
        CHECK(nested[b][r] == RungSize{expected[b][r][0], expected[b][r][1]});
      }
    }
  }
}

}  // namespace attune::sync_brackets_sizes_test
