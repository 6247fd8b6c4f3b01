#include "tuners/parts/bohb_density.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "space/parse.h"
#include "space/sample.h"

namespace attune::bohb_density_test {

using Rows = std::vector<std::vector<double>>;  // trials, of coordinates

Space space_of(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

// A number, an integer (cells of a quarter), a category of three and a normal without bounds.
const std::string kMixed = R"({"x": {"_type": "uniform", "_value": [-2, 2]},
  "i": {"_type": "randint", "_value": [0, 4]},
  "c": {"_type": "choice", "_value": ["u", "v", "w"]},
  "n": {"_type": "normal", "_value": [5, 2]}})";

// n trials, the loss of which grows with their index.
TpeHistory history_of(const Space& space, std::size_t n, std::size_t failed = 0) {
  TpeHistory history(space);
  Rng rng(3);
  for (std::size_t k = 0; k < n; ++k) {
    const double loss = static_cast<double>(k);
    history.add(sample(space, rng), {&loss, 1});
  }
  for (std::size_t k = 0; k < failed; ++k) history.add_failed(sample(space, rng));
  return history;
}

std::vector<const TpeGroups::Coordinate*> trials(const TpeHistory& history, std::size_t first,
                                                 std::size_t count) {
  std::vector<const TpeGroups::Coordinate*> rows;
  for (std::size_t k = first; k < first + count; ++k) {
    rows.push_back(history.coordinates(history.by_loss(0)[k]));
  }
  return rows;
}

// The density in straight words: the mean over the trials of the product of their kernels.
double naive_density(const std::vector<double>& x, const Rows& rows, const std::vector<double>& h) {
  const auto phi = [](double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1)); };
  const auto below = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2)); };
  double sum = 0;
  for (const auto& row : rows) {
    const double number = phi((x[0] - row[0]) / h[0]) / h[0] /
                          (below((1 - row[0]) / h[0]) - below((0 - row[0]) / h[0]));
    // The normal blurred by the cell, which is a quarter wide.
    const double s = std::sqrt(h[1] * h[1] + 0.25 * 0.25 / 12);
    const double integer =
        phi((x[1] - row[1]) / s) / s / (below((1 - row[1]) / s) - below((0 - row[1]) / s));
    const double category = x[2] == row[2] ? 1 - h[2] : h[2] / 2;
    const double normal = phi((x[3] - row[3]) / h[3]) / h[3];
    sum += number * integer * category * normal;
  }
  return sum / static_cast<double>(rows.size());
}

Rows coordinates(const std::vector<const TpeGroups::Coordinate*>& rows, std::size_t d) {
  Rows all;
  for (const auto* row : rows) {
    all.emplace_back();
    for (std::size_t v = 0; v < d; ++v) all.back().push_back(row[v].x);
  }
  return all;
}

TEST_CASE("BOHB: how many results are good and how many are not") {
  const BohbModelSettings plain;
  // Three variables: at least four of each side.
  CHECK(bohb_split(7, 7, 3, plain) == std::nullopt);
  CHECK(bohb_split(8, 8, 3, plain) == BohbSplit{4, 4});
  CHECK(bohb_split(20, 20, 3, plain) == BohbSplit{4, 16});
  CHECK(bohb_split(40, 40, 3, plain) == BohbSplit{6, 34});
  CHECK(bohb_split(47, 47, 3, plain) == BohbSplit{7, 39});  // both are rounded down
  CHECK(bohb_split(100, 100, 3, {.top_percent = 30}) == BohbSplit{30, 70});
  // A larger least number counts, a smaller one does not.
  CHECK(bohb_split(13, 13, 3, {.min_points = 10}) == std::nullopt);
  CHECK(bohb_split(14, 14, 3, {.min_points = 10}) == BohbSplit{10, 4});
  CHECK(bohb_split(8, 8, 3, {.min_points = 2}) == BohbSplit{4, 4});
  // Failed trials are among the bad ones only.
  CHECK(bohb_split(20, 4, 3, plain) == BohbSplit{4, 16});
  CHECK(bohb_split(20, 3, 3, plain) == std::nullopt);
  CHECK(bohb_split(0, 0, 0, plain) == std::nullopt);
}

TEST_CASE("BOHB: bandwidths follow the normal reference rule") {
  const Space space = space_of(kMixed);
  TpeHistory history(space);
  const Rows values = {{-2, 0, 0, 5}, {0, 1, 0, 7}, {2, 1, 1, 9}, {1, 3, 2, 5}};
  for (const auto& row : values) {
    const double loss = 0;
    history.add({row}, {&loss, 1});
  }
  const auto rows = trials(history, 0, 4);
  const auto h = bohb_bandwidths(history.groups(), history.groups().groups()[0], rows, 0.001);
  REQUIRE(h.size() == 4);
  // Deviations of 0, 0.5, 1, 0.75; of 1/8, 3/8, 3/8, 7/8; of 0, 1, 2, 0. Shares 1/2, 1/4, 1/4.
  const double factor = 1.06 * std::pow(4, -1.0 / 8);
  CHECK(h[0] == Approx(factor * std::sqrt(0.13671875)));
  CHECK(h[1] == Approx(factor * std::sqrt(0.07421875)));
  CHECK(h[2] == Approx(factor * std::sqrt((1 - 0.375) / 2)));
  CHECK(h[3] == Approx(factor * std::sqrt(0.6875)));

  // None is smaller than the smallest, and a category's is at most that of the uniform kernel.
  const std::vector same(3, rows[0]);
  const auto least = bohb_bandwidths(history.groups(), history.groups().groups()[0], same, 0.02);
  CHECK(least == std::vector<double>{0.02, 0.02, 0.02, 0.02});
  const auto most = bohb_bandwidths(history.groups(), history.groups().groups()[0], rows, 5);
  CHECK(most[0] == 5);
  CHECK(most[2] == Approx(2.0 / 3));
}

TEST_CASE("BOHB: of two candidates the bandwidth is that of their indices") {
  const Space space = space_of(R"({"c": {"_type": "choice", "_value": ["u", "v"]}})");
  TpeHistory history(space);
  const double loss = 0;
  for (const double c : {0, 0, 0, 1}) history.add({{c}}, {&loss, 1});
  const auto rows = trials(history, 0, 4);
  const auto h = bohb_bandwidths(history.groups(), history.groups().groups()[0], rows, 0.001);
  CHECK(h[0] == Approx(1.06 * std::pow(4, -1.0 / 5) * std::sqrt(0.25 * 0.75)));
}

TEST_CASE("BOHB: the ratio of the densities is that of a naive sum") {
  const Space space = space_of(kMixed);
  const TpeHistory history = history_of(space, 40, 5);
  const BohbModelSettings settings;
  const auto split = bohb_split(45, 40, 4, settings);
  REQUIRE(split == BohbSplit{6, 38});
  const BohbDensity density(history, 0, *split, settings);
  const auto good = trials(history, 0, 6), bad = trials(history, 6, 38);
  const auto& groups = history.groups();
  const auto good_h = bohb_bandwidths(groups, groups.groups()[0], good, 0.001);
  const auto bad_h = bohb_bandwidths(groups, groups.groups()[0], bad, 0.001);
  Rng rng(8);
  for (int k = 0; k < 200; ++k) {
    const std::vector<double> x = {rng.uniform(), static_cast<double>(rng.index(4)) / 4 + 0.125,
                                   static_cast<double>(rng.index(3)), rng.normal()};
    const double expected = std::log(naive_density(x, coordinates(good, 4), good_h)) -
                            std::log(naive_density(x, coordinates(bad, 4), bad_h));
    CHECK(density.log_ratios(x)[0] == Approx(expected).margin(2e-3));
  }
}

TEST_CASE("BOHB: far from all trials the ratio says nothing") {
  const Space space = space_of(R"({"x": {"_type": "uniform", "_value": [0, 1]}})");
  TpeHistory history(space);
  for (int k = 0; k < 10; ++k) {
    const double loss = k;
    history.add({{k < 5 ? 0.4 : 0.1}}, {&loss, 1});
  }
  const BohbModelSettings settings;
  const BohbDensity density(history, 0, BohbSplit{5, 5}, settings);
  const std::vector<double> x = {0.4, 0.1, 0.7, 0.99};
  const auto ratios = density.log_ratios(x);
  CHECK(ratios[0] > 70);
  CHECK(ratios[1] < -70);
  CHECK(ratios[2] == 0);  // nearer to the good ones, but both are below 1e-32
  CHECK(ratios[3] == 0);
}

TEST_CASE("BOHB: candidates spread around the good trials by the bandwidth times the factor") {
  const Space space = space_of(R"({"x": {"_type": "uniform", "_value": [0, 1]}})");
  TpeHistory history(space);
  for (int k = 0; k < 10; ++k) {
    const double loss = k;
    history.add({{0.5 + (k % 2 == 0 ? 0.004 : -0.004)}}, {&loss, 1});
  }
  for (const double factor : {1.0, 3.0}) {
    BohbModelSettings settings;
    settings.bandwidth_factor = factor;
    const BohbDensity density(history, 0, BohbSplit{4, 6}, settings);
    Rng rng(1);
    double squares = 0;
    const int n = 4000;
    for (int k = 0; k < n; ++k) squares += std::pow(density.suggest(1, rng)[0] - 0.5, 2);
    const double width = factor * 1.06 * 0.004 * std::pow(4, -1.0 / 5);
    CHECK(std::sqrt(squares / n) == Approx(std::hypot(0.004, width)).epsilon(0.05));
  }
}

TEST_CASE("BOHB: the suggestion is the candidate with the largest ratio") {
  const Space space = space_of(kMixed);
  const TpeHistory history = history_of(space, 60);
  const BohbModelSettings settings;
  const BohbDensity density(history, 0, *bohb_split(60, 60, 4, settings), settings);
  Rng rng(5);
  double one = 0, many = 0;
  for (int k = 0; k < 50; ++k) {
    one += density.log_ratios(density.suggest(1, rng))[0] / 50;
    // More candidates are the same draws and more: the best of them is better.
    Rng same = rng;
    const auto best = density.suggest(8, rng);
    std::vector<double> ratios;
    for (int c = 0; c < 8; ++c) ratios.push_back(density.log_ratios(density.suggest(1, same))[0]);
    CHECK(density.log_ratios(best)[0] == Approx(*std::ranges::max_element(ratios)).margin(1e-9));
    many += density.log_ratios(density.suggest(64, rng))[0] / 50;
  }
  CHECK(many > one + 1);
}

TEST_CASE("BOHB: suggestions are possible values whatever the bandwidths") {
  const Space space = space_of(kMixed);
  const TpeHistory history = history_of(space, 30);
  for (const double least : {1e-6, 0.5, 9999.0}) {
    for (const double factor : {1e-3, 9999.0}) {
      BohbModelSettings settings;
      settings.min_bandwidth = least;
      settings.bandwidth_factor = factor;
      const BohbDensity density(history, 0, *bohb_split(30, 30, 4, settings), settings);
      Rng rng(1);
      std::set<double> categories;
      for (int k = 0; k < 50; ++k) {
        const auto x = density.suggest(4, rng);
        REQUIRE(x.size() == 4);
        CHECK((x[0] >= 0 && x[0] <= 1));
        CHECK(std::fmod(x[1] * 4, 1) == 0.5);
        categories.insert(x[2]);
        CHECK(std::isfinite(history.groups().value(3, x[3])));
      }
      for (const double c : categories) CHECK((c == 0 || c == 1 || c == 2));
    }
  }
}

TEST_CASE("BOHB: an option of a nested choice has a model of its own trials") {
  const Space space = space_of(R"({"kernel": {"_type": "choice", "_value": [
    {"_name": "a", "x": {"_type": "uniform", "_value": [0, 1]}},
    {"_name": "b", "y": {"_type": "uniform", "_value": [0, 1]}}, {"_name": "c"}]}})");
  TpeHistory history(space);
  Rng rng(2);
  for (int k = 0; k < 60; ++k) {
    // In `a` large numbers are good; in `b` small ones.
    Point point{{static_cast<double>(k % 3), Point::kInactive, Point::kInactive}};
    const double x = rng.uniform();
    if (k % 3 < 2) point.values[1 + static_cast<std::size_t>(k % 3)] = x;
    const double loss = k % 3 == 0 ? 1 - x : k % 3 == 1 ? x : 2;
    history.add(point, {&loss, 1});
  }
  const BohbModelSettings settings;
  const auto suggested = [&](std::size_t variable) {
    const std::size_t group = history.groups().group_of(variable);
    const auto& results = history.by_loss(group);
    const BohbDensity density(
        history, group, *bohb_split(results.size(), history.usable(group), 1, settings), settings);
    double mean = 0;
    for (int k = 0; k < 20; ++k) mean += density.suggest(16, rng)[0] / 20;
    return mean;
  };
  CHECK(history.by_loss(history.groups().group_of(1)).size() == 20);
  CHECK(suggested(1) > 0.7);
  CHECK(suggested(2) < 0.3);
  CHECK(suggested(0) < 1.5);  // the choice itself: `c` is the worst
}

TEST_CASE("BOHB: a value that is missing counts as the declared distribution") {
  const Space space = space_of(kMixed);
  TpeHistory history(space);
  const double loss = 0, gap = Point::kInactive;
  // As after a change of the space, or in a damaged state.
  for (int k = 0; k < 10; ++k) history.add({{gap, 1, k % 2 == 0 ? gap : 1, gap}}, {&loss, 1});
  const BohbModelSettings settings;
  const BohbDensity density(history, 0, BohbSplit{5, 5}, settings);
  Rng rng(1);
  double least = 1, most = 0;
  for (int k = 0; k < 100; ++k) {
    const auto x = density.suggest(1, rng);
    CHECK(std::isfinite(density.log_ratios(x)[0]));
    least = std::min(least, x[0]);
    most = std::max(most, x[0]);
  }
  CHECK(least < 0.1);
  CHECK(most > 0.9);
}

TEST_CASE("BOHB: of very many results evenly spaced ones make the densities") {
  const Space space = space_of(R"({"x": {"_type": "uniform", "_value": [0, 1]}})");
  TpeHistory history(space);
  const std::size_t n = 20000;
  for (std::size_t k = 0; k < n; ++k) {
    const double loss = static_cast<double>(k) / static_cast<double>(n);
    history.add({{loss}}, {&loss, 1});
  }
  const BohbModelSettings settings;
  const BohbDensity density(history, 0, *bohb_split(n, n, 1, settings), settings);
  // The good ones lie evenly in [0, 0.15], the others in [0.15, 1].
  const std::vector<double> x = {0.02, 0.075, 0.13, 0.3, 0.9};
  const auto ratios = density.log_ratios(x);
  // In the middle of the good ones: their density is 1 / 0.15, that of the others is the tail of an
  // edge at 0.15, blurred by the bandwidth.
  const double width = 1.06 * 0.85 / std::sqrt(12) * std::pow(512, -1.0 / 5);
  const double others = 0.5 * std::erfc((0.15 - 0.075) / width / std::sqrt(2)) / 0.85;
  CHECK(ratios[1] == Approx(std::log(1 / 0.15 / others)).margin(0.01));
  for (const int k : {0, 2}) CHECK(ratios[static_cast<std::size_t>(k)] > 1);
  for (const int k : {3, 4}) CHECK(ratios[static_cast<std::size_t>(k)] < -10);
}

}  // namespace attune::bohb_density_test
