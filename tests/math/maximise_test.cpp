#include "math/maximise.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace attune::maximise_test {

using Numbers = std::vector<double>;
using In = std::span<const double>;
using Out = std::span<double>;

Box box(std::size_t n, double low, double high) { return {Numbers(n, low), Numbers(n, high)}; }

// Highest, 3, at 0.1, 0.2, ...; steeper in each dimension.
double hill(In x, Out gradient) {
  double value = 3;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double weight = 1 + static_cast<double>(i);
    const double difference = x[i] - 0.1 * weight;
    value -= weight * difference * difference;
    gradient[i] = -2 * weight * difference;
  }
  return value;
}

// Highest, 0, at (1, 1), at the end of a curved ridge.
double ridge(In x, Out gradient) {
  const double across = x[1] - x[0] * x[0];
  gradient[0] = 2 * (1 - x[0]) + 400 * across * x[0];
  gradient[1] = -200 * across;
  return -(1 - x[0]) * (1 - x[0]) - 100 * across * across;
}

TEST_CASE("maximise: the top of a quadratic function") {
  for (const std::size_t n : {1u, 2u, 9u}) {
    const Maximum top = maximise(hill, box(n, -1, 2), Numbers(n, 1.5), 200, 1e-12);
    CHECK(top.value == Approx(3));
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(top.x[i] == Approx(0.1 * (1 + static_cast<double>(i))).margin(1e-4));
    }
  }
}

TEST_CASE("maximise: along a curved ridge") {
  const Maximum top = maximise(ridge, box(2, -2, 2), {-1.2, 1}, 500, 1e-14);
  CHECK(top.x[0] == Approx(1).margin(1e-3));
  CHECK(top.x[1] == Approx(1).margin(1e-3));
  // The bound cuts the ridge off.
  const Maximum cut = maximise(ridge, box(2, -2, 0.5), {-1.2, 0.4}, 500, 1e-14);
  CHECK(cut.x[0] == Approx(0.5).margin(1e-3));
  CHECK(cut.x[1] == Approx(0.25).margin(1e-3));
}

TEST_CASE("maximise: at the bounds") {
  for (const auto& [low, high] : {std::pair(0.35, 1.0), std::pair(-1.0, 0.15)}) {
    const Maximum top =
        maximise(hill, box(4, low, high), Numbers(4, 0.5 * (low + high)), 200, 1e-12);
    for (std::size_t i = 0; i < 4; ++i) {
      const double free = 0.1 * (1 + static_cast<double>(i));
      CHECK(top.x[i] == Approx(std::min(std::max(free, low), high)).margin(1e-4));
      CHECK(top.x[i] >= low);
      CHECK(top.x[i] <= high);
    }
  }
  // A dimension without room.
  const Maximum top = maximise(hill, {{-1, 0.7, -1}, {1, 0.7, 1}}, {0, 0, 0}, 200, 1e-12);
  CHECK(top.x[0] == Approx(0.1).margin(1e-4));
  CHECK(top.x[1] == 0.7);
  CHECK(top.x[2] == Approx(0.3).margin(1e-4));
}

TEST_CASE("maximise: never asks outside of the box and begins at the clipped start") {
  std::vector<Numbers> asked;
  const auto recording = [&](In x, Out gradient) {
    asked.emplace_back(x.begin(), x.end());
    return hill(x, gradient);
  };
  maximise(recording, box(2, -0.5, 0.15), {7, -8}, 100, 1e-9);
  REQUIRE_FALSE(asked.empty());
  CHECK(asked[0] == Numbers{0.15, -0.5});
  for (const Numbers& x : asked) {
    for (const double c : x) {
      CHECK(c >= -0.5);
      CHECK(c <= 0.15);
    }
  }
}

TEST_CASE("maximise: keeps to the limit and knows the best that it has met") {
  for (const int limit : {1, 2, 3, 5, 17}) {
    int calls = 0;
    double highest = -1e300;
    const auto counting = [&](In x, Out gradient) {
      ++calls;
      const double value = ridge(x, gradient);
      highest = std::max(highest, value);
      return value;
    };
    const Maximum top = maximise(counting, box(2, -2, 2), {-1.2, 1}, limit, 0);
    CHECK(calls == limit);
    CHECK(top.value == highest);
    Numbers unused(2);
    CHECK(ridge(top.x, unused) == top.value);
  }
}

TEST_CASE("maximise: a number that is not finite ends the search with the best so far") {
  const double bad[] = {std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity()};
  for (const double number : bad) {
    for (const bool in_gradient : {false, true}) {
      for (const int good : {0, 1, 4}) {
        int calls = 0;
        double highest = -std::numeric_limits<double>::infinity();
        const auto failing = [&](In x, Out gradient) {
          const double value = ridge(x, gradient);
          if (calls++ < good) return highest = std::max(highest, value), value;
          if (!in_gradient) return number;
          gradient[1] = number;
          return value;
        };
        const Maximum top = maximise(failing, box(2, -2, 2), {-1.2, 1}, 100, 1e-9);
        CAPTURE(number, in_gradient, good);
        CHECK(calls == good + 1);
        CHECK(top.value == highest);
        if (good <= 1) CHECK(top.x == Numbers{-1.2, 1});
      }
    }
  }
}

TEST_CASE("maximise: the same call gives the same bits") {
  const Maximum a = maximise(ridge, box(2, -2, 2), {-1.2, 1}, 40, 1e-9);
  const Maximum b = maximise(ridge, box(2, -2, 2), {-1.2, 1}, 40, 1e-9);
  CHECK(a.x == b.x);
  CHECK(a.value == b.value);
  // A tolerance ends it early.
  int calls = 0;
  const auto counting = [&](In x, Out gradient) {
    ++calls;
    return ridge(x, gradient);
  };
  maximise(counting, box(2, -2, 2), {-1.2, 1}, 1000, 0.5);
  CHECK(calls < 30);
}

}  // namespace attune::maximise_test
