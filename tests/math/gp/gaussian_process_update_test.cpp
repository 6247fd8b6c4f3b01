// GaussianProcess row by row, its fit, and inputs on which a factorisation could fail.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "math/gp/gaussian_process.h"

namespace attune::gaussian_process_update_test {

using Numbers = std::vector<double>;

// Two positions and one of three categories.
Numbers random_rows(std::size_t n, Rng& rng) {
  Numbers rows;
  for (std::size_t i = 0; i < n; ++i) {
    rows.insert(rows.end(), {rng.uniform(), rng.uniform(), static_cast<double>(rng.index(3))});
  }
  return rows;
}

std::span<const double> row(const Numbers& rows, std::size_t i) {
  return std::span(rows).subspan(3 * i, 3);
}

Numbers normals(std::size_t n, Rng& rng) {
  Numbers y(n);
  for (double& v : y) v = rng.normal();
  return y;
}

const KernelParameters kParameters = {{1, 2, 0.5}, 0.1, -5};

GaussianProcess grown(const Numbers& rows, std::size_t from) {
  GaussianProcess gp({0, 0, 3});
  gp.assign(std::span(rows).first(3 * from), kParameters);
  for (std::size_t i = from; i < rows.size() / 3; ++i) gp.append(row(rows, i));
  return gp;
}

void check_predictions(const GaussianProcess& a, const GaussianProcess& b, double margin) {
  Rng rng(99);
  for (int i = 0; i < 20; ++i) {
    const Numbers x = random_rows(1, rng);
    const Prediction one = a.predict(x), other = b.predict(x);
    CHECK(std::abs(one.mean - other.mean) <= margin);
    CHECK(std::abs(one.deviation - other.deviation) <= margin);
  }
}

double posterior(const GaussianProcess& gp, const KernelParameters& p) {
  Numbers gradient(packed_size(gp.dimensions(), !p.warps.empty()));
  return gp.log_posterior(p, gradient);
}

void check_sane(const GaussianProcess& gp, const Numbers& x) {
  Numbers by_mean(x.size()), by_deviation(x.size());
  for (const Prediction& p : {gp.predict(x), gp.predict(x, by_mean, by_deviation)}) {
    CHECK(std::isfinite(p.mean));
    CHECK(p.deviation > 0);
    CHECK(p.deviation < 10);
  }
  for (const double slope : by_mean) CHECK(std::isfinite(slope));
  for (const double slope : by_deviation) CHECK(std::isfinite(slope));
}

TEST_CASE("gaussian process: row by row is as all at once") {
  Rng rng(1);
  const Numbers rows = random_rows(60, rng), y = normals(60, rng);
  GaussianProcess assigned = grown(rows, 60), appended = grown(rows, 0), again = grown(rows, 0);
  for (GaussianProcess* gp : {&assigned, &appended, &again}) {
    REQUIRE(gp->size() == 60);
    gp->set_targets(y);
  }
  check_predictions(assigned, appended, 1e-9);
  check_predictions(appended, again, 0);
}

TEST_CASE("gaussian process: forgetting rows and appending them again leaves the same bits") {
  Rng rng(2);
  const Numbers rows = random_rows(40, rng), others = random_rows(30, rng);
  const Numbers y = normals(40, rng);
  const GaussianProcess plain = [&] {
    GaussianProcess gp = grown(rows, 20);
    gp.set_targets(y);
    return gp;
  }();
  GaussianProcess gp = grown(rows, 20);
  gp.set_targets(y);
  for (std::size_t i = 0; i < 30; ++i) gp.append(row(others, i));  // the factor grows, too
  gp.resize(40);
  check_predictions(gp, plain, 0);
  gp.resize(25);
  CHECK(gp.fitted_means().size() == 25);
  for (std::size_t i = 25; i < 40; ++i) gp.append(row(rows, i));
  gp.set_targets(y);
  check_predictions(gp, plain, 0);
  // Targets of rows that are gone are gone; the rest count as before.
  gp.resize(25);
  GaussianProcess fewer = grown(Numbers(rows.begin(), rows.begin() + 75), 20);
  fewer.set_targets(std::span(y).first(25));
  check_predictions(gp, fewer, 0);
  // Room that is left over from a larger model changes nothing.
  gp.assign(std::span(rows).first(60), kParameters);
  GaussianProcess fresh = grown(Numbers(rows.begin(), rows.begin() + 60), 20);
  for (GaussianProcess* one : {&gp, &fresh}) {
    for (std::size_t i = 20; i < 40; ++i) one->append(row(rows, i));
    one->set_targets(y);
  }
  check_predictions(gp, fresh, 0);
}

TEST_CASE("gaussian process: fit increases the posterior density and finds what matters") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Rng rng(seed);
    Numbers rows, y;
    for (int i = 0; i < 40; ++i) {
      rows.insert(rows.end(), {rng.uniform(), rng.uniform()});
      y.push_back(1.4 * std::sin(7 * rows[rows.size() - 2]));
    }
    GaussianProcess gp({0, 0});
    gp.assign(rows, gp.initial_parameters());
    gp.set_targets(y);
    const double before = posterior(gp, gp.parameters());
    gp.fit(3);
    const double some = posterior(gp, gp.parameters());
    CHECK(some > before);
    gp.refit(60, GaussianProcess::Warping::none);
    CHECK(posterior(gp, gp.parameters()) >= some);
    const auto& [weights, signal, noise, warps] = gp.parameters();
    CAPTURE(seed, weights[0], weights[1], noise);
    CHECK(weights[0] > weights[1] + 3);  // the length scales differ by a factor of 4
    CHECK(noise < -5);
    CHECK(gp.predict(Numbers{0.3, 0.5}).mean == Approx(1.4 * std::sin(2.1)).margin(0.1));
    // Ready to be asked: as if it had been made with these parameters.
    GaussianProcess other({0, 0});
    other.assign(rows, gp.parameters());
    other.set_targets(y);
    CHECK(other.predict(Numbers{0.1, 0.2}).mean == gp.predict(Numbers{0.1, 0.2}).mean);
    CHECK(other.predict(Numbers{0.1, 0.2}).deviation == gp.predict(Numbers{0.1, 0.2}).deviation);
  }
}

TEST_CASE(
    "gaussian process: warps are taken for what changes faster at one end and dropped again") {
  for (const bool at_the_low_end : {true, false}) {
    Rng rng(12);
    Numbers rows, sharp, even;
    for (int i = 0; i < 60; ++i) {
      rows.insert(rows.end(), {rng.uniform(), rng.uniform(), static_cast<double>(rng.index(3))});
      const double x = rows[rows.size() - 3];
      sharp.push_back(std::sin(20 * std::pow(at_the_low_end ? x : 1 - x, 0.25)));
      even.push_back(std::sin(9 * x));
    }
    GaussianProcess gp({0, 0, 3});
    gp.assign(rows, gp.initial_parameters());
    gp.set_targets(sharp);
    gp.refit(60, GaussianProcess::Warping::none);
    CHECK(gp.parameters().warps.empty());
    const double straight = posterior(gp, gp.parameters());
    gp.refit(60, GaussianProcess::Warping::by_evidence);
    const std::vector<Warp> warps = gp.parameters().warps;
    REQUIRE(warps.size() == 3);
    CHECK(posterior(gp, gp.parameters()) > straight + 6);
    // Short distances become long where it changes fast.
    const double low = warped(warps[0], 0.1).value - warped(warps[0], 0.0).value;
    const double high = warped(warps[0], 1.0).value - warped(warps[0], 0.9).value;
    CHECK((at_the_low_end ? low > 2 * high : high > 2 * low));
    CHECK(warps[2].log_a == 0);
    CHECK(warps[2].log_b == 0);
    gp.fit(10);
    CHECK(gp.parameters().warps.size() == 3);

    gp.set_targets(even);
    gp.refit(60, GaussianProcess::Warping::by_evidence);
    CHECK(gp.parameters().warps.empty());
    check_sane(gp, {0.3, 0.7, 1});
  }
}

TEST_CASE("gaussian process: noise is noise") {
  Rng rng(4);
  Numbers rows;
  for (int i = 0; i < 60; ++i) rows.insert(rows.end(), {rng.uniform(), rng.uniform()});
  GaussianProcess gp({0, 0});
  gp.assign(rows, gp.initial_parameters());
  gp.set_targets(normals(60, rng));
  gp.fit(60);
  CHECK(gp.parameters().log_noise > std::log(0.3));
}

TEST_CASE("gaussian process: parameters are clipped to limits") {
  for (const double extreme : {100.0, -100.0}) {
    GaussianProcess gp({0, 4}, 1e-3);
    gp.assign(Numbers{0.5, 1}, {{extreme, -extreme}, extreme, extreme});
    const auto& [weights, signal, noise, warps] = gp.parameters();
    CHECK(std::abs(weights[0]) < 10);
    CHECK(weights[1] == Approx(-weights[0]));
    CHECK(std::abs(signal) < 4);
    CHECK(noise == (extreme > 0 ? 0 : std::log(1e-3)));
    gp.set_targets(Numbers{1.0});
    check_sane(gp, {0.5, 1});
    const KernelParameters inside = gp.parameters();
    gp.fit(5);
    gp.assign(Numbers{0.5, 1}, inside);
    CHECK(gp.parameters().log_weights == inside.log_weights);
    CHECK(gp.parameters().log_signal == inside.log_signal);
  }
}

TEST_CASE("gaussian process: without rows it is its prior") {
  GaussianProcess gp({0, 3});
  CHECK(gp.size() == 0);
  CHECK(gp.predict(Numbers{0.2, 1}).mean == 0);
  CHECK(gp.predict(Numbers{0.2, 1}).deviation == Approx(1));
  CHECK(gp.fitted_means().empty());
  gp.fit(10);
  check_sane(gp, {0.2, 1});
  CHECK(gp.predict_many({}).empty());
}

TEST_CASE("gaussian process: without dimensions there is one point") {
  GaussianProcess gp({});
  gp.append({});
  gp.append({});
  REQUIRE(gp.size() == 2);
  gp.set_targets(Numbers{1, 1});
  gp.fit(10);
  check_sane(gp, {});
  CHECK(gp.predict(Numbers{}).mean == Approx(1).margin(0.5));
  CHECK(gp.fitted_means()[0] == Approx(gp.predict(Numbers{}).mean));
}

TEST_CASE("gaussian process: one row and many of the same and equal targets") {
  for (const std::size_t n : {1u, 50u}) {
    for (const double weight : {-9.0, 0.0, 9.0}) {
      Rng rng(n);
      Numbers rows;
      for (std::size_t i = 0; i < n; ++i) rows.insert(rows.end(), {0.3, NAN, 2});
      for (const Numbers& y : {Numbers(n, 0.0), Numbers(n, 1.0), normals(n, rng)}) {
        GaussianProcess gp({0, 0, 3}, 1e-8), slow({0, 0, 3}, 1e-8);
        gp.assign(rows, {{weight, weight, weight}, 3, -20});
        slow.assign({}, gp.parameters());
        for (std::size_t i = 0; i < n; ++i) slow.append(std::span(rows).first(3));
        for (GaussianProcess* one : {&gp, &slow}) {
          one->set_targets(y);
          check_sane(*one, {0.3, NAN, 2});
          check_sane(*one, {0.9, 0.1, NAN});
          one->refit(40, GaussianProcess::Warping::by_evidence);
          check_sane(*one, {0.3, NAN, 2});
          check_sane(*one, {0.9, 0.1, NAN});
        }
      }
    }
  }
}

}  // namespace attune::gaussian_process_update_test
