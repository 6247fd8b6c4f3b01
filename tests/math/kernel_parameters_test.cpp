#include "math/kernel_parameters.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune {
namespace {

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
  const KernelParameters unpacked = unpack(Numbers{1, 2, 3, 4});
  CHECK(unpacked.log_weights == Numbers{1, 2});
  CHECK(unpacked.log_signal == 3);
  CHECK(unpacked.log_noise == 4);
  CHECK(pack(unpacked) == Numbers{1, 2, 3, 4});
  CHECK(pack(unpack(Numbers{3, 4})) == Numbers{3, 4});
}

TEST_CASE("kernel parameters: limits are in the order of packed ones") {
  const Box box = kernel_limits(2, 1e-5);
  REQUIRE(box.low.size() == 4);
  REQUIRE(box.high.size() == 4);
  CHECK(box.low[0] == Approx(std::log(1e-4)));
  CHECK(box.high[1] == Approx(std::log(1e4)));
  CHECK(box.low[2] == Approx(std::log(0.05)));
  CHECK(box.low[3] == std::log(1e-5));
  CHECK(box.high[3] == 0);
}

TEST_CASE("kernel parameters: the prior by its closed form and its derivatives") {
  Numbers p = {0.5, -1, 2, 0.3, -5};
  const auto closed_form = [&] {
    const double length = -1.5 + 0.5 * std::log(2.5);  // 2.5 dimensions are active
    return log_normal(-0.5 * p[0], length, 1) + log_normal(-0.5 * p[1], length, 1) +
           log_normal(-0.5 * p[2], length + 0.5, 1) + log_normal(p[3], 0, 1) +
           log_normal(p[4], -8, 2);
  };
  Numbers gradient(5, 10.0), unused(5);
  CHECK(log_kernel_prior(rows(), p, gradient) == Approx(closed_form()));
  for (std::size_t i = 0; i < 5; ++i) {
    const double at = p[i], step = 1e-6;
    p[i] = at + step;
    const double above = log_kernel_prior(rows(), p, unused);
    p[i] = at - step;
    const double below = log_kernel_prior(rows(), p, unused);
    p[i] = at;
    CHECK(gradient[i] - 10 == Approx((above - below) / (2 * step)).epsilon(1e-6));  // added
  }
}

}  // namespace
}  // namespace attune
