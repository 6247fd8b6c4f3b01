#include "math/gp/kernel_parameters.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::kernel_parameters_test {

using Numbers = std::vector<double>;

// Two positions and a category; in half of the rows the second position is inactive.
MixedRows rows() {
  MixedRows all({0, 0, 3});
  all.append(Numbers{0.1, 0.2, 0});
  all.append(Numbers{0.3, NAN, 1});
  return all;
}

double log_normal(double x, double mean, double deviation) {
  return -0.5 * std::pow((x - mean) / deviation, 2);
}

TEST_CASE("kernel parameters: packed and unpacked") {
  const KernelParameters unpacked = unpack(Numbers{1, 2, 3, 4}, 2);
  CHECK(unpacked.log_weights == Numbers{1, 2});
  CHECK(unpacked.log_signal == 3);
  CHECK(unpacked.log_noise == 4);
  CHECK(unpacked.warps.empty());
  const KernelParameters warped = unpack(Numbers{1, 2, 3, 4, 5, 6, 7, 8}, 2);
  REQUIRE(warped.warps.size() == 2);
  CHECK(warped.warps[0].log_b == 6);
  CHECK(warped.warps[1].log_a == 7);
  CHECK(pack(unpack(Numbers{3, 4}, 0)) == Numbers{3, 4});
  for (const bool with_warps : {false, true}) {
    Numbers p(packed_size(2, with_warps));
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<double>(i);
    CHECK(pack(unpack(p, 2)) == p);
  }
}

TEST_CASE("kernel parameters: limits are in the order of packed ones") {
  for (const bool with_warps : {false, true}) {
    const Box box = kernel_limits(rows(), 1e-5, with_warps);
    REQUIRE(box.low.size() == packed_size(3, with_warps));
    REQUIRE(box.high.size() == box.low.size());
    CHECK(box.low[0] == Approx(std::log(1e-4)));
    CHECK(box.high[2] == Approx(std::log(1e4)));
    CHECK(box.low[3] == Approx(std::log(0.05)));
    CHECK(box.low[4] == std::log(1e-5));
    CHECK(box.high[4] == 0);
    if (!with_warps) continue;
    CHECK(box.low[5] < 0);
    CHECK(box.high[8] > 0);
    // Categories are not warped.
    for (const std::size_t i : {9u, 10u}) {
      CHECK(box.low[i] == 0);
      CHECK(box.high[i] == 0);
    }
  }
}

TEST_CASE("kernel parameters: the prior by its closed form and its derivatives") {
  Numbers p = {0.5, -1, 2, 0.3, -5};
  const auto closed_form = [&] {
    const double length = -1.5 + 0.5 * std::log(2.5);  // 2.5 dimensions are active
    double sum = log_normal(-0.5 * p[0], length, 1) + log_normal(-0.5 * p[1], length, 1) +
                 log_normal(-0.5 * p[2], length + 0.5, 1) + log_normal(p[3], 0, 1) +
                 log_normal(p[4], -8, 2);
    for (std::size_t i = 5; i < p.size(); ++i) sum += log_normal(p[i], 0, 0.5);
    return sum;
  };
  for (const bool with_warps : {false, true}) {
    if (with_warps) p.insert(p.end(), {0.4, -0.3, 1, 0.2, 0, 0});
    REQUIRE(p.size() == packed_size(3, with_warps));
    Numbers gradient(p.size(), 10.0), unused(p.size());
    CHECK(log_kernel_prior(rows(), p, gradient) == Approx(closed_form()));
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double at = p[i], step = 1e-6;
      p[i] = at + step;
      const double above = log_kernel_prior(rows(), p, unused);
      p[i] = at - step;
      const double below = log_kernel_prior(rows(), p, unused);
      p[i] = at;
      const double difference = (above - below) / (2 * step);
      CHECK(gradient[i] - 10 == Approx(difference).epsilon(1e-6).margin(1e-8));  // added
    }
  }
}

}  // namespace attune::kernel_parameters_test
