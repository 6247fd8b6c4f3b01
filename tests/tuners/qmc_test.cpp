#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/tuners/tuner_world.h"

namespace attune::qmc_test {

TEST_CASE("qmc: each parameter gets each part of its domain equally often") {
  TunerWorld world("QMC", R"({"u": {"_type": "uniform", "_value": [-1, 3]},
      "l": {"_type": "loguniform", "_value": [0.001, 1000]},
      "n": {"_type": "normal", "_value": [5, 2]},
      "i": {"_type": "randint", "_value": [0, 8]},
      "c": {"_type": "choice", "_value": ["a", "b", "c", "d"]}})");
  std::vector<int> u(64), l(64), i(8), c(4);
  int below = 0;
  for (int k = 0; k < 64; ++k) {
    const auto x = world.values();
    ++u.at(static_cast<std::size_t>((x[0] + 1) * 16));
    ++l.at(static_cast<std::size_t>((std::log10(x[1]) + 3) / 6 * 64));
    below += x[2] < 5 ? 1 : 0;
    ++i.at(static_cast<std::size_t>(x[3]));
    ++c.at(static_cast<std::size_t>(x[4]));
  }
  CHECK(std::ranges::count(u, 1) == 64);
  CHECK(std::ranges::count(l, 1) == 64);
  CHECK(below == 32);
  CHECK(std::ranges::count(i, 8) == 8);
  CHECK(std::ranges::count(c, 16) == 4);
}

TEST_CASE("qmc: all subsets are drawn") {
  TunerWorld world("Sobol", R"({"x": {"_type": "uniform", "_value": [0, 1]},
      "in": {"_type": "input_choice", "_value": {"candidates": [1, 2, 3, 4], "n_chosen": 2}}})");
  std::map<double, int> counts;
  for (int k = 0; k < 600; ++k) ++counts[world.values()[1]];
  CHECK(counts.size() == 6);
  for (const auto& [mask, count] : counts) CHECK(count == Approx(100).margin(40));
}

TEST_CASE("qmc: what depends on a choice is set only where it is active") {
  TunerWorld world("QMC", R"({"c": {"_type": "choice", "_value": [
      {"_name": "a", "x": {"_type": "uniform", "_value": [0, 1]}}, {"_name": "b"}]},
      "y": {"_type": "uniform", "_value": [0, 1]}})");
  int with = 0;
  for (int k = 0; k < 32; ++k) {
    const auto x = world.values();
    CHECK(std::isnan(x[1]) == (x[0] == 1));
    with += std::isnan(x[1]) ? 0 : 1;
  }
  CHECK(with == 16);
}

TEST_CASE("qmc: a finite space is proposed once") {
  TunerWorld world("QMC", R"({"a": {"_type": "randint", "_value": [0, 5]},
      "b": {"_type": "choice", "_value": ["x", "y", "z"]}})");
  world.imported({2, 1}, 0.5);
  std::set<std::vector<double>> seen;
  for (int k = 0; k < 14; ++k) seen.insert(world.values());
  CHECK(seen.size() == 14);
  CHECK_FALSE(seen.contains({2, 1}));
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
}

TEST_CASE("qmc: after a loss the points are others") {
  TunerWorld world("QMC", R"({"x": {"_type": "uniform", "_value": [0, 1]}})");
  const json before = world.tuner->save();
  const auto first = world.values();
  REQUIRE(world.tuner->load(before));
  CHECK(world.values() == first);
  REQUIRE(world.tuner->load(before));
  world.tuner->skip_ahead();
  CHECK(world.values() != first);
}

TEST_CASE("qmc: damaged states are declined") {
  TunerWorld world("QMC", R"({"x": {"_type": "uniform", "_value": [0, 1]}})");
  for (const json& points : {json(-1), json(9007199254740992), json(2.5)}) {
    json state = world.tuner->save();
    state["points"] = points;
    CHECK_FALSE(world.tuner->load(state));
  }
}

}  // namespace attune::qmc_test
