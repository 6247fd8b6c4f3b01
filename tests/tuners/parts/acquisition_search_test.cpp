#include "tuners/parts/acquisition_search.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "space/constraint.h"
#include "space/dedup.h"
#include "space/parse.h"
#include "space/sample.h"

namespace attune::acquisition_search_test {

using Numbers = std::vector<double>;
using Height = std::function<double(std::span<const double> row)>;

struct World {
  Space space;
  Features features;
  Rng rng{1};

  explicit World(const std::string& text, const std::vector<std::string>& constraints = {})
      : space(with(parse_space(parse_json(text).value()).value(), constraints)), features(space) {}

  static Space with(Space space, const std::vector<std::string>& constraints) {
    REQUIRE(set_constraints(space, constraints));
    return space;
  }

  // Of the height at the encoded points; with the slopes by finite differences, or without.
  Acquisition acquisition(const Height& height, bool slopes) const {
    Acquisition result;
    const std::size_t d = features.size();
    result.values = [=](std::span<const double> rows) {
      Numbers values;
      for (std::size_t at = 0; at < rows.size(); at += d) {
        values.push_back(height(rows.subspan(at, d)));
      }
      return values;
    };
    if (!slopes) return result;
    result.climb = [=](std::span<const double> row, std::span<double> gradient) {
      Numbers x(row.begin(), row.end());
      for (std::size_t i = 0; i < d; ++i) {
        const double at = x[i];
        x[i] = at + 1e-6;
        const double above = height(x);
        x[i] = at - 1e-6;
        gradient[i] = at == at ? (above - height(x)) / 2e-6 : 0;
        x[i] = at;
      }
      return height(row);
    };
    return result;
  }

  std::vector<Found> search(const Height& height, const SearchSettings& settings,
                            bool slopes = true, std::span<const Point> good = {}) {
    const auto found =
        search_acquisition(space, features, acquisition(height, slopes), good, settings, rng);
    SeenPoints seen(space);
    double last = HUGE_VAL;
    for (const Found& one : found) {
      CHECK(seen.insert(one.point));  // all different
      CHECK(space.feasible(one.point));
      CHECK(one.value == height(features.encode(one.point)));
      CHECK(one.value <= last);
      last = one.value;
    }
    return found;
  }
};

// A real, an integer, an integer on a logarithm, a scale, a category, a subset, and a nested
// choice.
const char* const kMixed = R"({
  "u": {"_type": "uniform", "_value": [-1, 1]},
  "i": {"_type": "randint", "_value": [0, 100]},
  "q": {"_type": "qloguniform", "_value": [1, 1000, 1]},
  "t": {"_type": "choice", "_value": [16, 32, 64, 128, 256]},
  "c": {"_type": "choice", "_value": ["a", "b", "c", "d"]},
  "s": {"_type": "input_choice", "_value": {"candidates": [1, 2, 3], "n_chosen": 1}},
  "n": {"_type": "choice", "_value": [
    {"_name": "p", "v": {"_type": "uniform", "_value": [0, 1]}},
    {"_name": "q", "w": {"_type": "randint", "_value": [0, 10]}}]}})";

// Highest, 0, at u 0.2, i 37, q 3, t 128, c d, s {2}, n q, w 4: dimensions 0..10.
double mixed(std::span<const double> row) {
  const auto square = [](double x) { return x * x; };
  double value = -square(row[0] - 0.6) - square(row[1] - 0.375) -
                 square(row[2] - std::log(3) / std::log(1000)) - square(row[3] - 0.75);
  value -= row[4] == 3 ? 0 : 0.3;
  value -= row[6] == 1 ? 0 : 0.2;
  return value - (row[8] == 1 ? square(row[10] - 0.45) : 0.1 + square(row[9] - 0.5));
}

TEST_CASE("acquisition search: the top of a mixed and nested space") {
  for (const bool slopes : {true, false}) {
    int exact = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      World world(kMixed);
      REQUIRE(world.features.size() == 11);
      world.rng = Rng(seed);
      const auto found = world.search(mixed, {.candidates = 200, .neighbours = 0}, slopes);
      const Numbers& x = found[0].point.values;
      CAPTURE(slopes, seed, found[0].value, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[8]);
      CHECK(found[0].value > (slopes ? -1e-3 : -0.1));
      exact += x[1] == 37 && x[2] == 3 && x[3] == 3 && x[4] == 3 && x[5] == 2 && x[8] == 4;
    }
    if (slopes) CHECK(exact >= 9);
  }
}

TEST_CASE("acquisition search: a sharp top is climbed by the gradient") {
  const auto height = [](std::span<const double> x) {
    double value = 0;
    for (const double c : x) value -= (c - 0.3) * (c - 0.3);
    return value;
  };
  std::string text = "{";
  for (int i = 0; i < 6; ++i) {
    text += (i ? ", " : "") + std::string("\"x") + std::to_string(i) +
            R"(": {"_type": "uniform", "_value": [0, 10]})";
  }
  World world(text + "}");
  CHECK(world.search(height, {.candidates = 50})[0].value > -1e-6);
  CHECK(world.search(height, {.candidates = 50}, false)[0].value < -1e-3);
}

TEST_CASE("acquisition search: tops at the bounds are reached exactly") {
  World world(R"({"a": {"_type": "uniform", "_value": [-3, 5]},
                  "b": {"_type": "loguniform", "_value": [0.001, 10]},
                  "c": {"_type": "randint", "_value": [5, 5000]}})");
  const auto found = world.search([](auto x) { return x[0] - x[1] + x[2]; }, {.candidates = 20});
  CHECK(found[0].point.values[0] == 5);
  CHECK(found[0].point.values[1] == Approx(0.001));
  CHECK(found[0].point.values[2] == 4999);
}

TEST_CASE("acquisition search: neighbouring levels on any scale") {
  for (const char* domain :
       {R"("randint", "_value": [0, 1000])", R"("quniform", "_value": [1, 50, 0.5])",
        R"("qloguniform", "_value": [1, 1000, 1])",
        R"("qloguniform", "_value": [0.7, 900.4, 2])"}) {
    World world(std::string(R"({"x": {"_type": )") + domain + "}}");
    for (const double goal : {0.0, 0.15, 0.5, 1.0}) {
      // A few levels from the goal without a slope: the next levels on the way are tried.
      const double best = world.features.value(0, goal);
      const double top = world.features.encode(Point{{best}})[0];
      double first = best;
      for (int levels = 0; levels < 2; ++levels) {
        double next = first;
        for (double p = top; p >= 0 && p <= 1 && next == first; p += goal < 1 ? 1e-4 : -1e-4) {
          if (const double v = world.features.value(0, p); goal < 1 ? v > first : v < first)
            next = v;
        }
        first = next;
      }
      CAPTURE(domain, goal, best, first);
      REQUIRE(first != best);
      const auto height = [&](std::span<const double> x) { return -std::abs(x[0] - top); };
      const std::vector<Point> good(1, Point{{first}});
      const auto found = world.search(
          height, {.candidates = 0, .neighbours = 1, .climbs = 1, .rounds = 400}, false, good);
      CHECK(found[0].point.values[0] == best);
    }
  }
}

TEST_CASE("acquisition search: constraints are respected") {
  const auto height = [](std::span<const double> x) { return x[0] + x[1]; };
  World world(R"({"a": {"_type": "uniform", "_value": [0, 1]},
                  "b": {"_type": "uniform", "_value": [0, 1]},
                  "c": {"_type": "choice", "_value": ["x", "y"]}})",
              {"a + b < 0.8"});
  std::vector<Point> good = {Point{{0.4, 0.39, 0}}};
  const auto found = world.search(height, {}, true, good);
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].value > 0.7);
  World impossible(R"({"a": {"_type": "uniform", "_value": [0, 1]}})", {"a > 2"});
  CHECK(impossible.search([](auto x) { return x[0]; }, {}).empty());
}

TEST_CASE("acquisition search: a climb never makes it worse and good points help") {
  const auto rugged = [](std::span<const double> x) {
    return std::sin(40 * x[0]) + std::cos(31 * x[1]) + 2 * mixed(x);
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    double last = -HUGE_VAL;
    for (const auto& [climbs, rounds] : {std::pair(0, 0), std::pair(1, 1), std::pair(1, 3)}) {
      World world(kMixed);
      world.rng = Rng(seed);
      const auto found = world.search(
          rugged, {.candidates = 30, .neighbours = 0, .climbs = climbs, .rounds = rounds});
      CHECK(found[0].value >= last);
      last = found[0].value;
    }
  }
  const Point top = {{0.2, 37, 3, 3, 3, 2, 1, Point::kInactive, 4}};
  World with(kMixed), without(kMixed);
  const SearchSettings settings = {.candidates = 100, .neighbours = 100, .climbs = 0};
  CHECK(with.search(mixed, settings, true, std::vector{top})[0].value > -0.05);
  CHECK(without.search(mixed, settings)[0].value < -0.05);
}

TEST_CASE("acquisition search: finite spaces and constants and the same bits again") {
  const auto height = [](std::span<const double> x) { return x.empty() ? 0 : x[0]; };
  World finite(R"({"a": {"_type": "choice", "_value": ["x", "y", "x"]},
                   "b": {"_type": "randint", "_value": [0, 3]}})");
  CHECK(finite.search([](auto x) { return x[0] - x[1]; }, {}).size() == 6);
  World one(
      R"({"a": {"_type": "choice", "_value": ["x"]}, "b": {"_type": "randint", "_value": [0, 2]}})");
  CHECK(one.search(height, {}, true, std::vector{Point{{0, 1}}}).size() == 2);
  World a(kMixed), b(kMixed);
  Rng rng(3);
  const std::vector<Point> good = {sample(a.space, rng), sample(a.space, rng)};
  const auto first = a.search(mixed, {}, true, good), second = b.search(mixed, {}, true, good);
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(first[i].point == second[i].point);
  CHECK(a.rng == b.rng);
}

TEST_CASE("acquisition search: of very many parameters a sweep tries some") {
  for (const auto& [parameters, all] : {std::pair{100, true}, {500, false}}) {
    json text = json::object();
    for (int i = 0; i < parameters; ++i) {
      text["c" + std::to_string(i)] = {{"_type", "choice"},
                                       {"_value", {"a", "b", "c", "d", "e", "f", "g", "h"}}};
    }
    World w(text.dump());
    int looks = 0;
    SearchSettings settings{.candidates = 10, .neighbours = 0, .climbs = 1, .rounds = 1};
    // No value is better than another one.
    const Acquisition flat =
        w.acquisition([&](std::span<const double>) { return ++looks, 1.0; }, false);
    search_acquisition(w.space, w.features, flat, {}, settings, w.rng);
    CAPTURE(parameters, looks);
    CHECK((looks == 10 + 7 * parameters) == all);
    CHECK(looks <= 10 + 7 * 100);
  }
}

}  // namespace attune::acquisition_search_test
