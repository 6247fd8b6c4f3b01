#include "tuners/parts/box_search.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "space/dedup.h"
#include "space/parse.h"
#include "space/saved_point.h"

namespace attune::box_search_test {

Space parse(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

// Wants every position at `target`.
Acquisition near(const Features& features, double target) {
  const auto value = [&features, target](std::span<const double> row, std::span<double> gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool counts = features.dimensions()[i].categories == 0 && row[i] == row[i];
      if (counts) sum -= std::pow(row[i] - target, 2);
      if (!gradient.empty()) gradient[i] = counts ? 2 * (target - row[i]) : 0;
    }
    return sum;
  };
  Acquisition acquisition;
  acquisition.climb = value;
  acquisition.values = [value, d = features.size()](std::span<const double> rows) {
    std::vector<double> all;
    for (std::size_t at = 0; at < rows.size(); at += d) {
      all.push_back(value(rows.subspan(at, d), {}));
    }
    return all;
  };
  return acquisition;
}

std::vector<Found> search(const Space& space, const Point& centre, double length,
                          double share = 1) {
  const Features features(space);
  const SearchBox box = {centre, std::vector(features.size(), length), share};
  Rng rng(1);
  return search_box(space, features, near(features, 1), box, {}, rng);
}

TEST_CASE("box search: sides have the given geometric mean and follow the length scales") {
  const Space space = parse(R"({"a": {"_type": "uniform", "_value": [0, 1]},
      "c": {"_type": "choice", "_value": ["x", "y"]},
      "b": {"_type": "uniform", "_value": [0, 1]}})");
  const auto sides = box_sides(Features(space), std::vector{-2.0, 5.0, 2.0}, 0.5);
  REQUIRE(sides.size() == 3);
  CHECK(std::sqrt(sides[0] * sides[2]) == Approx(0.5));
  CHECK(sides[0] / sides[2] == Approx(std::exp(2.0)));
  CHECK(sides[1] == 0);
}

TEST_CASE("box search: all that is found is in the box and the best at its edge") {
  const Space space = parse(R"({"a": {"_type": "uniform", "_value": [0, 1]},
      "b": {"_type": "uniform", "_value": [0, 1]}})");
  const Point centre = {{0.6, 0.98}};
  const auto found = search(space, centre, 0.1);
  REQUIRE(found.size() > 100);
  for (const Found& one : found) {
    CHECK(std::abs(one.point.values[0] - 0.6) <= 0.05 + 1e-12);
    CHECK(one.point.values[1] >= 0.93 - 1e-12);
    CHECK_FALSE(one.point == centre);
  }
  CHECK(found.front().point.values[0] == Approx(0.65));
  CHECK(found.front().point.values[1] == Approx(1));
}

TEST_CASE("box search: neighbouring integers are in the smallest box") {
  const Space space = parse(R"({"i": {"_type": "randint", "_value": [0, 10]},
      "s": {"_type": "choice", "_value": [1, 2, 3]}})");
  std::set<std::vector<double>> points;
  for (const Found& one : search(space, {{5, 1}}, 1e-3)) points.insert(one.point.values);
  for (const double i : {4, 5, 6}) {
    for (const double s : {0, 1, 2}) CHECK(points.contains({i, s}) == (i != 5 || s != 1));
  }
}

TEST_CASE("box search: branches are woken and put to sleep") {
  const Space space = parse(R"({"layer": {"_type": "choice", "_value": [
        {"_name": "conv", "k": {"_type": "choice", "_value": ["a", "b"]},
         "p": {"_type": "uniform", "_value": [0, 1]}}, {"_name": "none"}]},
      "in": {"_type": "input_choice", "_value": {"candidates": ["a", "b", "c"], "n_chosen": 2}}})");
  for (const Point& centre : {Point{{0, 1, 0.5, 3}}, Point{{1, NAN, NAN, 6}}}) {
    std::set<double> branches, subsets;
    for (const Found& one : search(space, centre, 0.2, 0.1)) {
      REQUIRE(check_point(space, one.point));
      branches.insert(one.point.values[0]);
      subsets.insert(one.point.values[3]);
    }
    CHECK(branches.size() == 2);
    CHECK(subsets.size() == 3);
  }
}

TEST_CASE("box search: a small box changes about one of many categories") {
  std::string text = "{";
  for (int i = 0; i < 15; ++i) {
    text += (i ? ", " : "") + std::string("\"c") + std::to_string(i) +
            R"(": {"_type": "choice", "_value": ["a", "b", "c", "d"]})";
  }
  const Space space = parse(text + "}");
  const Point centre = {std::vector<double>(15, 0.0)};
  const auto changes = [&](double share) {
    const auto found = search(space, centre, 0.1, share);
    double sum = 0;
    for (const Found& one : found) {
      for (const double value : one.point.values) sum += value == 0 ? 0 : 1;
    }
    return sum / static_cast<double>(found.size());
  };
  CHECK(changes(0.01) < 2);
  CHECK(changes(1) > 8);
}

// Wants every category to be `wanted`.
Acquisition matching(const Features& features, double wanted) {
  Acquisition acquisition;
  acquisition.values = [d = features.size(), wanted](std::span<const double> rows) {
    std::vector<double> all;
    for (std::size_t at = 0; at < rows.size(); at += d) {
      const auto row = rows.subspan(at, d);
      all.push_back(static_cast<double>(std::ranges::count(row, wanted)));
    }
    return all;
  };
  return acquisition;
}

std::string choices(std::size_t count, std::size_t options) {
  json space = json::object();
  for (std::size_t i = 0; i < count; ++i) {
    json values = json::array();
    for (std::size_t k = 0; k < options; ++k) values.push_back("c" + std::to_string(k));
    space["x" + std::to_string(i)] = {{"_type", "choice"}, {"_value", values}};
  }
  return dump_json(space);
}

TEST_CASE("box search: a sweep finds the best of each category") {
  const Space space = parse(choices(20, 5));
  const Features features(space);
  const Point centre = {std::vector(20, 0.0)};
  Rng rng(1);
  const auto found = search_box(space, features, matching(features, 3),
                                {centre, std::vector(20, 0.0), 0.1}, {}, rng);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().point.values == std::vector(20, 3.0));
}

TEST_CASE("box search: a sweep ends, however many categories and values there are") {
  const Space space = parse(choices(300, 40));
  const Features features(space);
  const Point centre = {std::vector(300, 0.0)};
  Rng rng(1);
  std::size_t evaluated = 0;
  Acquisition acquisition = matching(features, 3);
  acquisition.values = [&, inner = acquisition.values](std::span<const double> rows) {
    evaluated += rows.size() / features.size();
    return inner(rows);
  };
  const BoxSearchSettings settings;
  search_box(space, features, acquisition, {centre, std::vector(300, 0.0), 1}, settings, rng);
  CHECK(evaluated <= static_cast<std::size_t>(2 * settings.candidates + 2 * settings.climbs));
}

TEST_CASE("box search: nothing is found where there is nothing else") {
  CHECK(search(parse("{}"), {}, 0.5).empty());
  CHECK(search(parse(R"({"x": {"_type": "choice", "_value": ["only"]}})"), {{0}}, 0.5).empty());
}

}  // namespace attune::box_search_test
