#include "math/gp/input_warp.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"

namespace attune::input_warp_test {

TEST_CASE("input warp: straight without parameters") {
  for (const double x : {0.0, 0.25, 0.5, 1.0}) {
    CHECK(warped({}, x).value == Approx(0.001 + 0.998 * x));
    CHECK(warped({}, x).by_x == Approx(0.998));
  }
}

TEST_CASE("input warp: Kumaraswamy's distribution function in the middle") {
  const Warped at = warped({std::log(2.0), std::log(3.0)}, 0.5);
  CHECK(at.value == Approx(1 - std::pow(1 - 0.25, 3)));
}

TEST_CASE("input warp: monotone from 0 to 1 with finite slopes to the ends") {
  for (const double a : {-1.5, 0.0, 1.5}) {
    for (const double b : {-1.5, 0.0, 1.5}) {
      double before = 0;
      for (int i = 0; i <= 100; ++i) {
        CAPTURE(a, b, i);
        const Warped at = warped({a, b}, i / 100.0);
        CHECK(at.value > before);
        CHECK(at.value <= 1);
        CHECK(at.by_x > 0);
        for (const double slope : {at.by_x, at.by_log_a, at.by_log_b}) {
          CHECK(std::isfinite(slope));
        }
        before = at.value;
      }
    }
  }
}

TEST_CASE("input warp: slopes are those of differences") {
  Rng rng(4);
  const double step = 1e-6;
  for (int i = 0; i < 50; ++i) {
    const Warp warp = {rng.uniform(-1.4, 1.4), rng.uniform(-1.4, 1.4)};
    const double x = rng.uniform(0.01, 0.99);
    const auto slope = [&](const Warp& more, double more_x, const Warp& less, double less_x) {
      return (warped(more, more_x).value - warped(less, less_x).value) / (2 * step);
    };
    const auto [a, b] = warp;
    const Warped at = warped(warp, x);
    CHECK(at.by_x == Approx(slope(warp, x + step, warp, x - step)).epsilon(1e-6));
    CHECK(at.by_log_a == Approx(slope({a + step, b}, x, {a - step, b}, x)).epsilon(1e-5));
    CHECK(at.by_log_b == Approx(slope({a, b + step}, x, {a, b - step}, x)).epsilon(1e-5));
  }
}

}  // namespace attune::input_warp_test
