// GaussianProcess saved and loaded: the same bits, whatever happened to it before.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "base/saved_numbers.h"
#include "math/gp/gaussian_process.h"

namespace attune::gaussian_process_state_test {

using Numbers = std::vector<double>;

const std::vector<std::size_t> kMixed = {0, 3, 0};

Numbers random_row(Rng& rng) {
  const double maybe = rng.index(4) == 0 ? NAN : rng.uniform();
  return {rng.uniform(), static_cast<double>(rng.index(3)), maybe};
}

// A model with what its owner keeps beside it.
struct Owned {
  GaussianProcess gp{kMixed};
  Numbers rows, targets;

  void assign(std::size_t n, Rng& rng) {
    rows.clear();
    targets.clear();
    for (std::size_t i = 0; i < n; ++i) add_row(rng);
    KernelParameters parameters = {{1, 0.5, -1}, rng.uniform(-1, 1), -4};
    if (rng.index(2) == 0) parameters.warps = {{0.3, -0.4}, {}, {-1, 0.2}};
    gp.assign(rows, parameters);
  }
  void append(std::size_t n, Rng& rng) {
    for (std::size_t i = 0; i < n; ++i) {
      add_row(rng);
      gp.append(std::span(rows).last(3));
    }
  }
  void resize(std::size_t n) {
    rows.resize(3 * n);
    if (targets.size() > n) targets.resize(n);
    gp.resize(n);
  }
  void set_targets(std::size_t n, Rng& rng) {
    targets.resize(n);
    for (double& y : targets) y = rng.normal();
    gp.set_targets(targets);
  }
  void add_row(Rng& rng) {
    for (const double x : random_row(rng)) rows.push_back(x);
  }

  GaussianProcess restored() const {
    GaussianProcess other(kMixed);
    // Whatever it held before is gone.
    other.assign(Numbers{0.5, 1, 0.5, 0.1, 2, 0.3}, other.initial_parameters());
    other.set_targets(Numbers{1});
    const auto state = parse_json(dump_json(gp.save()));
    REQUIRE(state);
    REQUIRE(other.load(*state, rows, targets));
    CHECK(dump_json(other.save()) == dump_json(gp.save()));
    return other;
  }
};

Numbers answers(const GaussianProcess& gp) {
  Numbers all = gp.fitted_means();
  Rng rng(5);
  for (int i = 0; i < 8; ++i) {
    Numbers by_mean(3), by_deviation(3);
    const auto [mean, deviation] = gp.predict(random_row(rng), by_mean, by_deviation);
    all.insert(all.end(), {mean, deviation, by_mean[0], by_deviation[2]});
  }
  return all;
}

TEST_CASE("gaussian process: saved and loaded it has the same bits and goes on with them") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Rng rng(seed);
    Owned one;
    for (int k = 0; k < 40; ++k) {
      const std::size_t n = one.gp.size();
      const std::size_t what = rng.index(6);
      CAPTURE(seed, k, n, what);
      switch (what) {
        case 0:
          one.assign(rng.index(30), rng);
          break;
        case 1:
          one.resize(n - rng.index(n / 2 + 1));
          break;
        case 2:
          one.set_targets(rng.index(n + 1), rng);
          break;
        case 3:
          one.gp.fit(2);
          break;
        default:
          one.append(1 + rng.index(9), rng);
          break;
      }
      GaussianProcess other = one.restored();
      CHECK(other.size() == one.gp.size());
      CHECK(other.assigned() == one.gp.assigned());
      REQUIRE(answers(other) == answers(one.gp));
      const bool go_on_with_it = rng.index(2) == 0;
      if (go_on_with_it) one.gp = std::move(other);
    }
  }
}

TEST_CASE("gaussian process: what was assigned is what came at once") {
  Rng rng(1);
  Owned one;
  one.assign(20, rng);
  one.append(10, rng);
  CHECK(one.gp.assigned() == 20);
  one.resize(25);
  CHECK(one.gp.assigned() == 20);
  one.set_targets(10, rng);
  one.resize(15);
  CHECK(one.gp.assigned() == 15);
  one.append(3, rng);
  one.gp.fit(1);
  CHECK(one.gp.assigned() == 18);
}

TEST_CASE("gaussian process: without dimensions it is saved with its targets") {
  GaussianProcess gp({}), other({});
  gp.append({});
  gp.append({});
  gp.set_targets(Numbers{1, 0.5});
  for (int k = 0; k < 2; ++k) {
    REQUIRE(other.load(gp.save(), {}, Numbers{1, 0.5}));
    CHECK(other.predict(Numbers{}).mean == gp.predict(Numbers{}).mean);
    CHECK(other.predict(Numbers{}).deviation == gp.predict(Numbers{}).deviation);
    gp.fit(10);
  }
}

TEST_CASE("gaussian process: a damaged state is declined and changes nothing") {
  Rng rng(3);
  Owned one;
  one.assign(12, rng);
  one.append(3, rng);
  one.set_targets(14, rng);
  const Numbers before = answers(one.gp);
  const json good = one.gp.save();
  const auto declined = [&](const json& state) {
    CAPTURE(dump_json(state));
    CHECK_FALSE(one.gp.load(state, one.rows, one.targets));
    CHECK(answers(one.gp) == before);
  };
  for (const Numbers& bad :
       {Numbers{}, Numbers{0, 0, 0, 0}, Numbers{0, 0, 0, 0, NAN}, Numbers{0, 0, 0, 0, 0, 0},
        Numbers(10), Numbers(12), Numbers{HUGE_VAL, 0, 0, 0, 0}, Numbers{0, -1e3, 0, 0, 0}}) {
    json state = good;
    state["parameters"] = save_numbers(bad);
    declined(state);
  }
  for (const json& bad : {json(-1), json(16), json("x"), json(0.5), json(), json::array()}) {
    json state = good;
    state["fitted_rows"] = bad;
    declined(state);
    state = good;
    state["parameters"] = bad;
    declined(state);
  }
  for (const json& bad : {json(), json(1), json("x"), json::array(), json::object()}) declined(bad);
  // Parameters beyond the limits are clipped to them, as by assign().
  json wide = good;
  wide["parameters"] = save_numbers(Numbers{99, -99, 99, 99, -99});
  GaussianProcess clipped(kMixed), assigned(kMixed);
  REQUIRE(clipped.load(wide, std::span(one.rows).first(36), {}));
  assigned.assign(std::span(one.rows).first(36), {{99, -99, 99}, 99, -99});
  CHECK(answers(clipped) == answers(assigned));
  CHECK(one.gp.load(good, one.rows, one.targets));
}

}  // namespace attune::gaussian_process_state_test
