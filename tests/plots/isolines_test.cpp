// Lines of equal values.
#include "plots/isolines.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::plots::isolines_test {

using Numbers = std::vector<double>;

TEST_CASE("isolines: a circle") {
  Numbers axis, values;
  for (int k = 0; k <= 40; ++k) axis.push_back(-1 + k / 20.0);
  for (const double y : axis) {
    for (const double x : axis) values.push_back(std::hypot(x, y));
  }
  const auto pieces = isolines(axis, axis, values, 0.6);
  double length = 0;
  for (const auto& [a, b] : pieces) {
    CHECK(std::hypot(a.x, a.y) == Approx(0.6).epsilon(0.005));
    length += std::hypot(a.x - b.x, a.y - b.y);
  }
  CHECK(length == Approx(2 * M_PI * 0.6).epsilon(0.01));
  CHECK(isolines(axis, axis, values, 5).empty());
}

TEST_CASE("isolines: a saddle has two pieces, on the sides that its middle decides") {
  const Numbers ends = {0, 1};
  // High at two corners, and in the middle: the lines cut off the low ones.
  for (const auto& [a, b] : isolines(ends, ends, Numbers{1, 0, 0, 1}, 0.4)) {
    const Place middle = {(a.x + b.x) / 2, (a.y + b.y) / 2};
    CHECK(std::abs(middle.x + middle.y - 1) < 1e-9);
  }
  for (const auto& [a, b] : isolines(ends, ends, Numbers{1, 0, 0, 1}, 0.6)) {
    const Place middle = {(a.x + b.x) / 2, (a.y + b.y) / 2};
    CHECK(std::abs(middle.x - middle.y) < 1e-9);
  }
  CHECK(isolines(ends, ends, Numbers{1, 0, 0, 1}, 0.5).size() == 2);
}

TEST_CASE("isolines: cells without a value have none") {
  const Numbers ends = {0, 1};
  CHECK(isolines(ends, ends, Numbers{1, 0, NAN, 1}, 0.5).empty());
  CHECK(isolines(ends, ends, Numbers{1, 0, INFINITY, 1}, 0.5).empty());
  CHECK(isolines({}, {}, {}, 0).empty());
}

}  // namespace attune::plots::isolines_test
