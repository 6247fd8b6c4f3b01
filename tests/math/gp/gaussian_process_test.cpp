// GaussianProcess against its formulas, written down densely and naively here.
#include "math/gp/gaussian_process.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"

namespace attune::gaussian_process_test {

using Numbers = std::vector<double>;
const std::vector<std::size_t> kMixed = {0, 0, 3, 0, 2};  // the last two are sometimes inactive

Numbers random_row(Rng& rng) {
  Numbers row = {rng.uniform(), rng.uniform(), static_cast<double>(rng.index(3)), NAN, NAN};
  if (rng.index(3) > 0) row[3] = rng.uniform();
  if (rng.index(3) > 0) row[4] = static_cast<double>(rng.index(2));
  return row;
}

KernelParameters random_parameters(std::size_t dimensions, Rng& rng, bool with_warps = false) {
  KernelParameters p;
  for (std::size_t k = 0; k < dimensions; ++k) p.log_weights.push_back(rng.uniform(-2, 3));
  p.log_signal = rng.uniform(-1, 1);
  p.log_noise = rng.uniform(-6, -1);
  for (std::size_t k = 0; with_warps && k < dimensions; ++k) {
    p.warps.push_back({rng.uniform(-1, 1), rng.uniform(-1, 1)});
    if (kMixed[k] > 0) p.warps.back() = {};
  }
  return p;
}

// One number after the other: weights, signal, noise, warps.
double& entry(KernelParameters& p, std::size_t i) {
  const std::size_t d = p.log_weights.size();
  if (i < d) return p.log_weights[i];
  if (i < d + 2) return i == d ? p.log_signal : p.log_noise;
  Warp& warp = p.warps[(i - d - 2) / 2];
  return (i - d) % 2 == 0 ? warp.log_a : warp.log_b;
}

// A position as the kernel sees it.
double seen(double x, std::size_t k, const KernelParameters& p) {
  const double position = x == x ? x : 0.5;
  if (p.warps.empty()) return position;
  const double a = std::exp(p.warps[k].log_a), b = std::exp(p.warps[k].log_b);
  return 1 - std::pow(1 - std::pow(0.001 + 0.998 * position, a), b);
}

// Rows, targets of the first, and what follows from them by the textbook.
struct Naive {
  std::vector<std::size_t> categories;
  std::vector<Numbers> rows;
  Numbers y;

  GaussianProcess process(const KernelParameters& p) const {
    GaussianProcess gp(categories);
    gp.assign(flat(), p);
    gp.set_targets(y);
    return gp;
  }

  Numbers flat() const {
    Numbers all;
    for (const Numbers& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
  }

  double kernel(const Numbers& a, const Numbers& b, const KernelParameters& p) const {
    double square = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double weight = std::exp(p.log_weights[k]);
      if (categories[k] == 0) {
        const double difference = seen(a[k], k, p) - seen(b[k], k, p);
        square += weight * difference * difference;
      } else {
        square += a[k] == b[k] || (a[k] != a[k] && b[k] != b[k]) ? 0 : weight;
      }
    }
    const double r = std::sqrt(5 * square);
    return std::exp(p.log_signal) * (1 + r + r * r / 3) * std::exp(-r);
  }

  // Cholesky factor of the covariance of the first n rows with noise.
  std::vector<Numbers> factor(std::size_t n, const KernelParameters& p) const {
    std::vector<Numbers> l(n, Numbers(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = kernel(rows[i], rows[j], p);
        if (i == j) sum += std::exp(p.log_noise) + 1e-8 * std::exp(p.log_signal);
        for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
        l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
      }
    }
    return l;
  }

  static Numbers below(const std::vector<Numbers>& l, Numbers b) {  // L^-1 b
    for (std::size_t i = 0; i < b.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= l[i][k] * b[k];
      b[i] /= l[i][i];
    }
    return b;
  }
  static double dot(const Numbers& a, const Numbers& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }

  double log_posterior(const KernelParameters& p) const {
    const auto l = factor(y.size(), p);
    const Numbers z = below(l, y);
    double value = -0.5 * dot(z, z), active = 0;
    for (std::size_t i = 0; i < y.size(); ++i) value -= std::log(l[i][i]);
    for (const Numbers& row : rows) {
      for (const double x : row) active += (x == x ? 1.0 : 0.0) / static_cast<double>(rows.size());
    }
    const auto normal = [](double x, double mean, double deviation) {
      return -0.5 * std::pow((x - mean) / deviation, 2);
    };
    for (std::size_t k = 0; k < categories.size(); ++k) {
      const double log_length = -1.5 + 0.5 * std::log(active) + (categories[k] > 0 ? 0.5 : 0);
      value += normal(-0.5 * p.log_weights[k], log_length, 1);
    }
    for (const Warp& warp : p.warps) {
      value += normal(warp.log_a, 0, 0.5) + normal(warp.log_b, 0, 0.5);
    }
    return value + normal(p.log_signal, 0, 1) + normal(p.log_noise, -8, 2);
  }

  Prediction predict(const Numbers& x, const KernelParameters& p) const {
    Numbers k;
    for (const Numbers& row : rows) k.push_back(kernel(row, x, p));
    const auto explained = below(factor(rows.size(), p), k);
    const auto l = factor(y.size(), p);
    const double mean = dot(below(l, Numbers(k.begin(), k.begin() + std::ssize(y))), below(l, y));
    return {mean, std::sqrt(std::exp(p.log_signal) - dot(explained, explained))};
  }
};

Naive scattered(std::size_t n, std::size_t targets, std::uint64_t seed) {
  Rng rng(seed);
  Naive naive{kMixed, {}, {}};
  for (std::size_t i = 0; i < n; ++i) naive.rows.push_back(random_row(rng));
  for (std::size_t i = 0; i < targets; ++i) naive.y.push_back(rng.normal());
  return naive;
}

void check_close(const Prediction& a, const Prediction& b, double margin = 1e-8) {
  CHECK(a.mean == Approx(b.mean).margin(margin));
  CHECK(a.deviation == Approx(b.deviation).margin(margin));
}

TEST_CASE("gaussian process: posterior density by the textbook and its gradient") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const bool with_warps = seed > 4;
    Rng rng(seed + 100);
    const Naive naive = scattered(5 + seed, 5 + seed, seed);
    const GaussianProcess gp = naive.process(random_parameters(5, rng));
    KernelParameters first = random_parameters(5, rng, with_warps);
    const KernelParameters second = random_parameters(5, rng);
    Numbers gradient(with_warps ? 17 : 7), unused(gradient.size());
    const double difference =
        gp.log_posterior(first, gradient) - gp.log_posterior(second, std::span(unused).first(7));
    CHECK(difference == Approx(naive.log_posterior(first) - naive.log_posterior(second)));
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      if (i >= 7 && kMixed[(i - 7) / 2] > 0) {  // categories do not bend
        CHECK(gradient[i] == 0);
        continue;
      }
      CAPTURE(seed, i);
      const double step = 1e-5, at = entry(first, i);
      entry(first, i) = at + step;
      const double above = gp.log_posterior(first, unused);
      entry(first, i) = at - step;
      const double below = gp.log_posterior(first, unused);
      entry(first, i) = at;
      CHECK(gradient[i] == Approx((above - below) / (2 * step)).epsilon(1e-5).margin(1e-6));
    }
  }
}

TEST_CASE("gaussian process: targets differ in density as the whole posterior does") {
  Rng rng(9);
  GaussianProcess gp = scattered(8, 8, 3).process(random_parameters(5, rng));
  const auto densities = [&](const Numbers& targets) {
    gp.set_targets(targets);
    Numbers unused(pack(gp.parameters()).size());
    return std::pair(gp.log_density_of_targets(), gp.log_posterior(gp.parameters(), unused));
  };
  const auto [one, whole] = densities({1, -1, 0.5, 0, -0.5, 2, -2, 0});
  const auto [other, other_whole] = densities({0, 1, 0, 1, -1, 0, 1, -2});
  CHECK(one - other == Approx(whole - other_whole));
}

TEST_CASE("gaussian process: predictions by the textbook and their gradients") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Rng rng(seed + 200);
    const Naive naive = scattered(9, seed == 1 ? 9 : 6, seed);
    const KernelParameters p = random_parameters(5, rng, seed > 5);
    const GaussianProcess gp = naive.process(p);
    Numbers many;
    std::vector<Prediction> single;
    for (int i = 0; i < 20; ++i) {
      Numbers x = random_row(rng), by_mean(5), by_deviation(5);
      many.insert(many.end(), x.begin(), x.end());
      single.push_back(gp.predict(x));
      check_close(single.back(), naive.predict(x, p), 1e-6);
      check_close(gp.predict(x, by_mean, by_deviation), single.back());
      for (std::size_t k = 0; k < 5; ++k) {
        if (kMixed[k] > 0) {
          CHECK(by_mean[k] == 0);
          CHECK(by_deviation[k] == 0);
        } else if (x[k] == x[k]) {
          CAPTURE(seed, i, k);
          const double step = 1e-5, at = x[k];
          x[k] = at + step;
          const Prediction above = gp.predict(x);
          x[k] = at - step;
          const Prediction below = gp.predict(x);
          x[k] = at;
          const double mean = (above.mean - below.mean) / (2 * step);
          const double deviation = (above.deviation - below.deviation) / (2 * step);
          CHECK(by_mean[k] == Approx(mean).epsilon(1e-4).margin(1e-6));
          CHECK(by_deviation[k] == Approx(deviation).epsilon(1e-4).margin(1e-6));
        }
      }
    }
    const auto all = gp.predict_many(many);
    REQUIRE(all.size() == single.size());
    for (std::size_t i = 0; i < all.size(); ++i) check_close(all[i], single[i], 1e-12);
  }
}

TEST_CASE("gaussian process: fitted means are the predictions at the rows") {
  Rng rng(55);
  const Naive naive = scattered(9, 7, 5);
  const GaussianProcess gp = naive.process(random_parameters(5, rng));
  const Numbers means = gp.fitted_means();
  REQUIRE(means.size() == 7);
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(means[i] == Approx(gp.predict(naive.rows[i]).mean).margin(1e-10));
  }
}

TEST_CASE("gaussian process: with little noise it goes through the targets") {
  Rng rng(66);
  const Naive naive = scattered(10, 10, 6);
  KernelParameters p = random_parameters(5, rng);
  p.log_noise = std::log(1e-6);
  const GaussianProcess gp = naive.process(p);
  for (std::size_t i = 0; i < 10; ++i) {
    check_close(gp.predict(naive.rows[i]), {naive.y[i], 0}, 2e-3);
  }
  // Far away in a length scale of 1/100 there is nothing but the prior.
  GaussianProcess short_sighted({0});
  short_sighted.assign(Numbers{0.1}, {{std::log(1e4)}, 0, -10});
  short_sighted.set_targets(Numbers{3.0});
  check_close(short_sighted.predict(Numbers{0.9}), {0, 1});
}

TEST_CASE("gaussian process: rows without targets lower the deviation and leave the means") {
  Rng rng(77);
  const Naive naive = scattered(8, 8, 7);
  KernelParameters p = random_parameters(5, rng);
  p.log_noise = -9;
  GaussianProcess gp = naive.process(p);
  const GaussianProcess before = gp;
  const Numbers pretended = random_row(rng);
  gp.append(pretended);
  CHECK(gp.predict(pretended).deviation < 0.7 * before.predict(pretended).deviation);
  for (int i = 0; i < 50; ++i) {
    const Numbers x = random_row(rng);
    CHECK(gp.predict(x).mean == before.predict(x).mean);
    CHECK(gp.predict(x).deviation <= before.predict(x).deviation + 1e-12);
  }
}

}  // namespace attune::gaussian_process_test
