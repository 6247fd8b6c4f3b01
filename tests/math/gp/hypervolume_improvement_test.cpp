#include "math/gp/hypervolume_improvement.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "math/gp/log_improvement.h"
#include "math/hypervolume.h"

namespace attune::hypervolume_improvement_test {

using Numbers = std::vector<double>;

double value(const HypervolumeImprovement& improvement, const Numbers& means,
             const Numbers& deviations) {
  Numbers by_mean(means.size()), by_deviation(means.size());
  return improvement.log_expectation(means, deviations, by_mean, by_deviation);
}

Numbers random_rows(std::size_t count, std::size_t k, Rng& rng) {
  Numbers rows(count * k);
  for (double& x : rows) x = rng.uniform();
  return rows;
}

double added(const Numbers& rows, const Numbers& row, const Numbers& reference) {
  Numbers more = rows;
  more.insert(more.end(), row.begin(), row.end());
  return hypervolume(more, row.size(), reference) - hypervolume(rows, row.size(), reference);
}

TEST_CASE("hypervolume improvement: of one objective it is the expected improvement") {
  const HypervolumeImprovement improvement(Numbers{0.7, 0.2, 0.4}, Numbers{1});
  CHECK(improvement.boxes() == 1);
  for (const double mean : {-1.0, 0.2, 3.0, 50.0}) {
    Numbers by_mean(1), by_deviation(1);
    const double log =
        improvement.log_expectation(Numbers{mean}, Numbers{0.3}, by_mean, by_deviation);
    const LogImprovement expected = log_expected_improvement(mean, 0.3, 0.2);
    CHECK(log == Approx(expected.value));
    CHECK(by_mean[0] == Approx(expected.by_mean));
    CHECK(by_deviation[0] == Approx(expected.by_deviation));
  }
}

TEST_CASE("hypervolume improvement: of a sure result it is the volume that it adds") {
  Rng rng(1);
  for (const std::size_t k : {1, 2, 3, 4, 5}) {
    const Numbers reference(k, 0.9);
    int better = 0;
    for (int i = 0; i < 60; ++i) {
      const Numbers rows = random_rows(rng.index(7), k, rng), row = random_rows(1, k, rng);
      const HypervolumeImprovement improvement(rows, reference);
      const double volume = added(rows, row, reference);
      CAPTURE(k, rows, row);
      const double expected = std::exp(value(improvement, row, Numbers(k, 1e-9)));
      CHECK(expected == Approx(volume).margin(1e-6));
      better += volume > 0 ? 1 : 0;
    }
    CHECK(better > 3);
  }
}

TEST_CASE("hypervolume improvement: the expectation over quantiles of the result") {
  // The midpoints of equally probable cells, by bisection of the distribution function: the ends of
  // the tails are missing.
  constexpr int kCells = 200;
  Numbers normal;
  for (int i = 0; i < kCells; ++i) {
    double low = -9, high = 9;
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (std::exp(log_normal_probability(middle)) < (i + 0.5) / kCells ? low : high) = middle;
    }
    normal.push_back(low);
  }
  const Numbers rows = {0.1, 0.8, 0.3, 0.5, 0.55, 0.3, 0.6, 0.6, 0.9, 0.05, 2, -1};
  const Numbers reference = {1, 1.2}, means = {0.4, 0.5}, deviations = {0.3, 0.2};
  double mean = 0;
  for (const double a : normal) {
    for (const double b : normal) {
      mean += added(rows, {means[0] + a * deviations[0], means[1] + b * deviations[1]}, reference) /
              (kCells * kCells);
    }
  }
  const HypervolumeImprovement improvement(rows, reference);
  CHECK(improvement.boxes() == 5);  // four points of the front
  CHECK(std::exp(value(improvement, means, deviations)) == Approx(mean).epsilon(5e-3));
}

TEST_CASE("hypervolume improvement: the derivatives are those of finite differences") {
  Rng rng(2);
  constexpr double kStep = 1e-6;
  for (const std::size_t k : {2, 3}) {
    const HypervolumeImprovement improvement(random_rows(6, k, rng), Numbers(k, 1.0));
    for (const double far : {0.0, 1.0, 30.0}) {
      Numbers means = random_rows(1, k, rng), deviations(k, 0.2);
      for (double& mean : means) mean += far;
      Numbers by_mean(k), by_deviation(k);
      improvement.log_expectation(means, deviations, by_mean, by_deviation);
      for (std::size_t j = 0; j < k; ++j) {
        for (auto [moved, slope] :
             {std::pair(&means, by_mean[j]), {&deviations, by_deviation[j]}}) {
          double& x = (*moved)[j];
          const double at = x;
          x = at + kStep;
          const double above = value(improvement, means, deviations);
          x = at - kStep;
          const double below = value(improvement, means, deviations);
          x = at;
          CAPTURE(k, far, j);
          CHECK(std::isfinite(above));
          CHECK(slope == Approx((above - below) / (2 * kStep)).epsilon(1e-3).margin(1e-5));
        }
      }
    }
  }
}

TEST_CASE("hypervolume improvement: large fronts are thinned and hopeless ones count as none") {
  Numbers front;
  for (int i = 0; i < 5000; ++i) front.insert(front.end(), {i / 5000.0, 1 - i / 5000.0});
  const HypervolumeImprovement large(front, Numbers{2, 2});
  CHECK(large.boxes() <= 4096);
  CHECK(large.boxes() > 500);
  const HypervolumeImprovement none(Numbers{3, 0, 0, 3, 2, 1}, Numbers{2, 2});
  CHECK(none.boxes() == 1);
  CHECK(value(none, Numbers{1, 1}, Numbers{1e-9, 1e-9}) == Approx(0).margin(1e-6));
  Rng rng(3);
  const HypervolumeImprovement many(random_rows(300, 8, rng), Numbers(8, 1.0));
  CHECK(many.boxes() <= 4096);
  CHECK(std::isfinite(value(many, Numbers(8, 0.1), Numbers(8, 0.1))));
}

}  // namespace attune::hypervolume_improvement_test
