#include "math/networks/bayesian_linear.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "base/rng.h"
#include "base/saved_numbers.h"

namespace attune::bayesian_linear_test {

using Numbers = std::vector<double>;

constexpr std::size_t kSize = 4;

struct Matrix {
  std::size_t n;
  Numbers values = Numbers(n * n);
  double& at(std::size_t i, std::size_t j) { return values[i * n + j]; }
};

// Gauss-Jordan on a positive definite matrix, which becomes its inverse; the log determinant.
double invert(Matrix& a) {
  double log_determinant = 0;
  for (std::size_t k = 0; k < a.n; ++k) {
    const double pivot = a.at(k, k);
    log_determinant += std::log(pivot);
    a.at(k, k) = 1;
    for (std::size_t j = 0; j < a.n; ++j) a.at(k, j) /= pivot;
    for (std::size_t i = 0; i < a.n; ++i) {
      if (i == k) continue;
      const double factor = a.at(i, k);
      a.at(i, k) = 0;
      for (std::size_t j = 0; j < a.n; ++j) a.at(i, j) -= factor * a.at(k, j);
    }
  }
  return log_determinant;
}

struct Observations {
  Numbers rows, targets;

  Observations(std::size_t count, double noise, std::uint64_t seed) {
    Rng rng(seed);
    for (std::size_t i = 0; i < count; ++i) {
      double y = noise * rng.normal();
      for (std::size_t k = 0; k < kSize; ++k) {
        rows.push_back(rng.normal());
        y += (k == 0 ? 0.8 : k == 1 ? -0.5 : 0.1) * rows.back();
      }
      targets.push_back(y);
    }
  }
};

// Equations 3.53 and 3.54 of the book, at one row.
BayesianLinear::Prediction closed_form(const Observations& all, Precisions p, const Numbers& row) {
  const double alpha = std::exp(p.log_prior), beta = std::exp(p.log_noise);
  Matrix covariance{kSize};
  Numbers right(kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t o = 0; o < all.targets.size(); ++o) {
      const double* phi = &all.rows[o * kSize];
      right[i] += beta * phi[i] * all.targets[o];
      for (std::size_t j = 0; j < kSize; ++j) covariance.at(i, j) += beta * phi[i] * phi[j];
    }
    covariance.at(i, i) += alpha;
  }
  invert(covariance);
  double mean = 0, variance = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) {
      mean += row[i] * covariance.at(i, j) * right[j];
      variance += row[i] * covariance.at(i, j) * row[j];
    }
  }
  return {mean, std::sqrt(variance)};
}

// Of y as a normal vector: covariance 1/beta + phi phi^T / alpha.
double direct_log_evidence(const Observations& all, Precisions p) {
  const std::size_t n = all.targets.size();
  Matrix covariance{n};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < kSize; ++k) {
        covariance.at(i, j) +=
            all.rows[i * kSize + k] * all.rows[j * kSize + k] * std::exp(-p.log_prior);
      }
    }
    covariance.at(i, i) += std::exp(-p.log_noise);
  }
  double value = static_cast<double>(n) * std::log(2 * std::numbers::pi) + invert(covariance);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      value += all.targets[i] * covariance.at(i, j) * all.targets[j];
    }
  }
  return -0.5 * value;
}

const Numbers kRow = {0.3, -1, 2, 0.5};

TEST_CASE("bayesian linear: predictions are those of the closed form") {
  for (const std::size_t count : {2u, 4u, 30u}) {
    const Observations all(count, 0.3, 1);
    for (const Precisions p : {Precisions{0, 2}, Precisions{-1, 5}, Precisions{2, -1}}) {
      BayesianLinear model(kSize);
      model.fit(all.rows, all.targets, p);
      const auto exact = closed_form(all, p, kRow);
      const auto found = model.predict_many(kRow)[0];
      CAPTURE(count, p.log_prior, p.log_noise);
      CHECK(found.mean == Approx(exact.mean).epsilon(1e-9));
      CHECK(found.deviation == Approx(exact.deviation).epsilon(1e-9));
    }
  }
}

TEST_CASE("bayesian linear: the evidence is the density of the targets") {
  for (const std::size_t count : {1u, 3u, 12u}) {
    const Observations all(count, 0.5, 2);
    for (const Precisions p : {Precisions{0, 1}, Precisions{-2, 3}, Precisions{3, 0.5}}) {
      Numbers gradient(2), unused(2);
      CAPTURE(count, p.log_prior, p.log_noise);
      CHECK(log_evidence(all.rows, all.targets, p, gradient) ==
            Approx(direct_log_evidence(all, p)).epsilon(1e-9));
      const auto at = [&](double by_prior, double by_noise) {
        return log_evidence(all.rows, all.targets, {p.log_prior + by_prior, p.log_noise + by_noise},
                            unused);
      };
      CHECK(gradient[0] == Approx((at(1e-5, 0) - at(-1e-5, 0)) / 2e-5).epsilon(1e-5).margin(1e-7));
      CHECK(gradient[1] == Approx((at(0, 1e-5) - at(0, -1e-5)) / 2e-5).epsilon(1e-5).margin(1e-7));
    }
  }
}

TEST_CASE("bayesian linear: many observations say how large the noise is") {
  for (const double noise : {0.03, 0.3}) {
    const Observations all(400, noise, 3);
    BayesianLinear model(kSize);
    model.fit(all.rows, all.targets);
    CHECK(std::exp(-0.5 * model.precisions().log_noise) == Approx(noise).epsilon(0.15));
    Numbers gradient(2);
    const double best = log_evidence(all.rows, all.targets, model.precisions(), gradient);
    for (const double shift : {-1.0, 1.0}) {
      const Precisions other = {model.precisions().log_prior, model.precisions().log_noise + shift};
      CHECK(log_evidence(all.rows, all.targets, other, gradient) < best);
    }
  }
}

TEST_CASE("bayesian linear: rows that are confirmed lower the deviation and keep the mean") {
  const Observations all(6, 0.3, 4);
  const Precisions p = {0, 2};
  const Numbers more = {1, 0.5, -1, 2, 0.2, -2, 1, 1};
  BayesianLinear model(kSize);
  model.fit(all.rows, all.targets, p);
  const double mean = model.predict_many(kRow)[0].mean;
  model.confirm(std::span(more).first(4), p.log_noise);
  model.confirm(std::span(more).last(4), p.log_noise);
  model.confirm({}, p.log_noise);
  Observations together = all;
  together.rows.insert(together.rows.end(), more.begin(), more.end());
  together.targets.insert(together.targets.end(), {0, 0});
  CHECK(model.predict_many(kRow)[0].mean == mean);
  CHECK(model.predict_many(kRow)[0].deviation ==
        Approx(closed_form(together, p, kRow).deviation).epsilon(1e-9));
}

TEST_CASE("bayesian linear: the derivatives are those of the prediction") {
  const Observations all(9, 0.3, 5);
  BayesianLinear model(kSize);
  model.fit(all.rows, all.targets);
  Numbers by_mean(kSize), by_deviation(kSize);
  const auto at = model.predict(kRow, by_mean, by_deviation);
  CHECK(at.mean == Approx(model.predict_many(kRow)[0].mean).epsilon(1e-12));
  CHECK(at.deviation == Approx(model.predict_many(kRow)[0].deviation).epsilon(1e-12));
  for (std::size_t i = 0; i < kSize; ++i) {
    Numbers both = kRow;
    both.insert(both.end(), kRow.begin(), kRow.end());
    both[i] += 1e-6;
    both[kSize + i] -= 1e-6;
    const auto beside = model.predict_many(both);
    CHECK(by_mean[i] == Approx((beside[0].mean - beside[1].mean) / 2e-6).epsilon(1e-5));
    CHECK(by_deviation[i] ==
          Approx((beside[0].deviation - beside[1].deviation) / 2e-6).epsilon(1e-4).margin(1e-8));
  }
}

TEST_CASE("bayesian linear: saved and loaded it predicts the same bits, and not what is damaged") {
  const Observations all(9, 0.3, 6);
  BayesianLinear model(kSize), copy(kSize);
  model.fit(all.rows, all.targets);
  model.confirm(kRow, 3);
  const auto same = [&] {
    const auto a = model.predict_many(all.rows), b = copy.predict_many(all.rows);
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(a[i].mean == b[i].mean);
      CHECK(a[i].deviation == b[i].deviation);
    }
    CHECK(copy.precisions().log_noise == model.precisions().log_noise);
    CHECK(copy.save() == model.save());
  };
  REQUIRE(copy.load(BayesianLinear(kSize).save()));
  REQUIRE(copy.load(parse_json(dump_json(model.save())).value()));
  same();
  for (BayesianLinear* each : {&model, &copy}) each->confirm(Numbers{0, 1, 0, 2}, 2);
  same();

  CHECK_FALSE(BayesianLinear(kSize + 1).load(model.save()));
  const Numbers good = numbers(model.save()).value();
  for (const double bad : {std::nan(""), HUGE_VAL, -1e101}) {
    for (const std::size_t at : {0ul, 1ul, 2ul, good.size() - 1}) {
      Numbers damaged = good;
      damaged[at] = bad;
      CHECK_FALSE(copy.load(save_numbers(damaged)));
    }
  }
  CHECK_FALSE(copy.load(save_numbers(std::span(good).first(good.size() - 1))));
  for (const json& bad : {json(), json(3), json("x"), json::array(), json::object()}) {
    CHECK_FALSE(copy.load(bad));
  }
  same();
}

TEST_CASE("bayesian linear: finite for equal targets and repeated rows and more units than rows") {
  Numbers rows, targets;
  for (int i = 0; i < 3; ++i) {
    rows.insert(rows.end(), kRow.begin(), kRow.end());
    targets.push_back(0);
  }
  BayesianLinear model(kSize);
  model.fit(rows, targets);
  for (int i = 0; i < 50; ++i) model.confirm(rows, 5);
  const auto found = model.predict_many(kRow)[0];
  CHECK(found.mean == Approx(0).margin(1e-12));
  CHECK(found.deviation > 0);
  CHECK(found.deviation < 0.1);
}

}  // namespace attune::bayesian_linear_test
