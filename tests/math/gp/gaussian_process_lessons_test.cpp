// What a result would teach: GaussianProcess::predict_lessons() against a model that has the
// result.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "math/gp/gaussian_process.h"

namespace attune::gaussian_process_lessons_test {

using Numbers = std::vector<double>;

const std::vector<std::size_t> kMixed = {0, 3, 0};

Numbers random_row(Rng& rng) {
  const double maybe = rng.index(4) == 0 ? NAN : rng.uniform();
  return {rng.uniform(), static_cast<double>(rng.index(3)), maybe};
}

// Rows with targets, and behind them some without.
struct Known {
  Numbers rows, targets;
  KernelParameters parameters;
  std::size_t awaited;

  explicit Known(std::uint64_t seed) : awaited(seed % 4) {
    Rng rng(seed);
    parameters = {{rng.uniform(-1, 3), rng.uniform(-1, 2), rng.uniform(-1, 3)},
                  rng.uniform(-1, 1),
                  rng.uniform(-6, -1)};
    if (seed % 3 == 0) parameters.warps = {{0.3, -0.4}, {}, {-1, 0.2}};
    const std::size_t count = seed % 5 == 0 ? 0 : 12;
    for (std::size_t i = 0; i < count + awaited; ++i) {
      const Numbers row = random_row(rng);
      rows.insert(rows.end(), row.begin(), row.end());
    }
    for (std::size_t i = 0; i < count; ++i) targets.push_back(rng.normal());
  }

  GaussianProcess process(const Numbers& more_rows = {}, const Numbers& more_targets = {}) const {
    GaussianProcess gp(kMixed);
    Numbers all(rows), y(targets);
    all.insert(all.end(), more_rows.begin(), more_rows.end());
    y.insert(y.end(), more_targets.begin(), more_targets.end());
    gp.assign(all, parameters);
    gp.set_targets(y);
    return gp;
  }
};

double variance(const GaussianProcess& gp, const Numbers& x) {
  return std::pow(gp.predict(x).deviation, 2);
}

TEST_CASE("gaussian process: the means of many rows are those of the predictions") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const GaussianProcess gp = Known(seed).process();
    Rng rng(seed + 100);
    Numbers rows, expected;
    for (int i = 0; i < 9; ++i) {
      const Numbers x = random_row(rng);
      rows.insert(rows.end(), x.begin(), x.end());
      expected.push_back(gp.predict(x).mean);
    }
    const Numbers means = gp.predict_means(rows);
    REQUIRE(means.size() == expected.size());
    for (std::size_t i = 0; i < 9; ++i) CHECK(means[i] == Approx(expected[i]).margin(1e-12));
  }
}

TEST_CASE("gaussian process: a lesson is the fall of the variance once the result is known") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Known known(seed);
    const GaussianProcess before = known.process();
    Rng rng(seed + 200);
    Numbers points, observed;
    for (int i = 0; i < 8; ++i) {
      const Numbers x = random_row(rng), o = i == 0 ? x : random_row(rng);
      points.insert(points.end(), x.begin(), x.end());
      observed.insert(observed.end(), o.begin(), o.end());
    }
    const auto lessons = before.predict_lessons(points, observed);
    REQUIRE(lessons.size() == 8);
    for (std::size_t i = 0; i < 8; ++i) {
      CAPTURE(seed, i);
      const auto at = static_cast<std::ptrdiff_t>(3 * i);
      const Numbers x(points.begin() + at, points.begin() + at + 3);
      const Numbers o(observed.begin() + at, observed.begin() + at + 3);
      const auto& [prediction, change] = lessons[i];
      CHECK(prediction.mean == Approx(before.predict(x).mean).margin(1e-12));
      CHECK(prediction.deviation == Approx(before.predict(x).deviation).margin(1e-12));
      CHECK(change >= 0);
      // A row that is appended to a copy, and a model that has it from the beginning.
      GaussianProcess appended = before;
      appended.append(o);
      for (const GaussianProcess& after : {appended, known.process(o)}) {
        const double fall = variance(before, x) - variance(after, x);
        CHECK(change * change == Approx(fall).epsilon(1e-6).margin(1e-7));
      }
    }
  }
}

TEST_CASE("gaussian process: a lesson is by how much a surprising result moves the mean") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Known known(seed);
    if (known.awaited > 0) continue;  // the targets of those rows must not change
    CAPTURE(seed);
    const GaussianProcess before = known.process();
    Rng rng(seed + 300);
    const Numbers x = random_row(rng), o = random_row(rng);
    const double change = before.predict_lessons(x, o)[0].change;
    const double noisy = std::sqrt(variance(before, o) + std::exp(before.parameters().log_noise));
    for (const double surprise : {-2.0, 0.0, 1.0}) {
      const double result = before.predict(o).mean + surprise * noisy;
      const double moved = known.process(o, {result}).predict(x).mean - before.predict(x).mean;
      CHECK(std::abs(moved) == Approx(std::abs(surprise) * change).epsilon(1e-5).margin(1e-7));
    }
  }
}

TEST_CASE("gaussian process: what is far away or known already teaches little") {
  GaussianProcess gp({0});
  gp.assign(Numbers{0.1}, {{std::log(1e4)}, 0, -9});
  gp.set_targets(Numbers{1});
  const auto lessons = gp.predict_lessons(Numbers{0.9, 0.1, 0.9}, Numbers{0.5, 0.1, 0.9});
  CHECK(lessons[0].change < 1e-9);
  CHECK(lessons[1].change < 0.02);
  CHECK(lessons[2].change == Approx(1).margin(1e-3));
}

}  // namespace attune::gaussian_process_lessons_test
