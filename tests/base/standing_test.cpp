// How good a result is, with limits.
#include "base/standing.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace attune::standing_test {

constexpr double kMost = std::numeric_limits<double>::max();
const std::vector<Objective> kObjectives = {
    {"loss", false}, {"recall", true, 0.8}, {"size", true}, {"seconds", false, 10.0}};

Standing of(double loss, double recall, double size, double seconds) {
  return standing(kObjectives, std::vector<std::optional<double>>{loss, recall, size, seconds})
      .value();
}

TEST_CASE("standing: objectives are minimised and limits are measured") {
  const Standing kept = of(3, 0.8, 5, 10);  // a limit that is reached is kept
  CHECK(kept.violation == 0);
  CHECK(kept.values == std::vector<double>{3, -5});
  const Standing broken = of(3, 0.5, 5, 14);
  CHECK(broken.violation == Approx(4.3));
  CHECK(broken.values == kept.values);
}

TEST_CASE("standing: limits come before objectives") {
  CHECK(of(9, 0.9, 0, 1) < of(1, 0.7, 9, 1));     // keeps them
  CHECK(of(9, 0.7, 0, 1) < of(1, 0.6, 9, 1));     // breaks them less
  CHECK(of(9, 0.7, 0, 1) < of(1, 0.9, 9, 10.2));  // whichever it is
  CHECK(of(1, 0.9, 0, 1) < of(2, 0.99, 9, 1));    // kept is kept, by however much
  CHECK(of(1, 0.9, 2, 1) < of(1, 0.9, 1, 1));
  CHECK(of(1, 0.7, 0, 1) < of(2, 0.7, 0, 1));
}

TEST_CASE("standing: what lacks a number has none") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::optional<double> flaw : {std::optional<double>(), {nan}, {HUGE_VAL}}) {
    for (std::size_t i = 0; i < kObjectives.size(); ++i) {
      std::vector<std::optional<double>> reported(kObjectives.size(), 1);
      CHECK(standing(kObjectives, reported));
      reported[i] = flaw;
      CHECK_FALSE(standing(kObjectives, reported));
    }
  }
}

TEST_CASE("standing: differences that no double can express are the largest one") {
  CHECK(to_minimise(-1e308, {"size", false, 1e308}) == -kMost);
  CHECK(to_minimise(-1e308, {"size", true, 1e308}) == kMost);
  CHECK(violation(std::vector<double>{kMost, kMost}, 0) == kMost);
}

}  // namespace attune::standing_test
