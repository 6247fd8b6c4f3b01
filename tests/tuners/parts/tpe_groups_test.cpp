#include "tuners/parts/tpe_groups.h"

#include <catch2/catch.hpp>

#include "space/parse.h"
#include "space/sample.h"

namespace attune::tpe_groups_test {

Space parse(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

const std::string kKernels = R"({"C": {"_type": "loguniform", "_value": [0.01, 100]},
  "kernel": {"_type": "choice", "_value": [
    {"_name": "rbf", "gamma": {"_type": "loguniform", "_value": [0.001, 10]}},
    {"_name": "poly", "gamma": {"_type": "loguniform", "_value": [0.001, 10]},
                      "degree": {"_type": "randint", "_value": [2, 6]}},
    {"_name": "linear"},
    {"_name": "sigmoid", "gamma": {"_type": "loguniform", "_value": [0.001, 1]}}]}})";

TEST_CASE("TPE groups: the same name and domain in several branches is one variable") {
  // 0 C, 1 kernel, 2 rbf.gamma, 3 poly.gamma, 4 poly.degree, 5 sigmoid.gamma (another range).
  const TpeGroups groups(parse(kKernels));
  REQUIRE(groups.variables().size() == 5);
  CHECK(groups.variables()[2].params == std::vector<std::size_t>{2, 3});
  CHECK(groups.groups() == std::vector<TpeGroups::Group>{{0, 1}, {2}, {3}, {4}});
  CHECK(groups.group_of(0) == 0);
  CHECK(groups.group_of(2) == groups.group_of(3));
  CHECK(groups.group_of(5) == 3);

  std::vector<TpeGroups::Coordinate> rbf(5), poly(5);
  const double off = Point::kInactive;
  groups.encode({{1, 0, 0.1, off, off, off}}, rbf);
  groups.encode({{1, 1, off, 0.1, 3, off}}, poly);
  CHECK(rbf[2].x == poly[2].x);
  CHECK(rbf[2].x == Approx(0.5));
  CHECK(rbf[3].x != rbf[3].x);
  CHECK(poly[3].x == Approx(0.375));  // the second of four
  CHECK(poly[4].x != poly[4].x);
}

TEST_CASE("TPE groups: constants belong to none") {
  const TpeGroups groups(parse(R"({"a": {"_type": "choice", "_value": ["only"]},
    "b": {"_type": "uniform", "_value": [3, 3]}, "c": {"_type": "normal", "_value": [0, 0]},
    "d": {"_type": "randint", "_value": [4, 5]}})"));
  CHECK(groups.variables().empty());
  CHECK(groups.group_of(3) == TpeGroups::kConstant);
}

TEST_CASE("TPE groups: ascending numbers are steps, other candidates categories") {
  const TpeGroups groups(parse(R"({"a": {"_type": "choice", "_value": [16, 32, 64.5]},
    "b": {"_type": "choice", "_value": [16, 64, 32]}, "c": {"_type": "choice", "_value": [1, 2]},
    "d": {"_type": "choice", "_value": [1, 2, "3"]}})"));
  REQUIRE(groups.variables().size() == 4);
  CHECK(groups.variables()[0].kind == TpeVariable::Kind::steps);
  for (std::size_t v = 1; v < 4; ++v) CHECK(groups.variables()[v].axis.categories > 0);
}

TEST_CASE("TPE groups: a value has the coordinate of its cell and comes back") {
  const Space space = parse(R"({"c": {"_type": "choice", "_value": ["x", "y", "z"]},
    "n": {"_type": "choice", "_value": [1, 2, 4, 8]}, "i": {"_type": "randint", "_value": [-3, 9]},
    "w": {"_type": "randint", "_value": [0, 4503599627370496]},
    "u": {"_type": "uniform", "_value": [-5, 5]}, "q": {"_type": "quniform", "_value": [1, 10, 2]},
    "l": {"_type": "loguniform", "_value": [1e-5, 10]},
    "ql": {"_type": "qloguniform", "_value": [1, 1024, 1]},
    "m": {"_type": "normal", "_value": [2, 3]}, "ln": {"_type": "lognormal", "_value": [0, 1]},
    "qn": {"_type": "qnormal", "_value": [0, 5, 0.5]},
    "qln": {"_type": "qlognormal", "_value": [-1, 1, 1]}})");
  const TpeGroups groups(space);
  REQUIRE(groups.variables().size() == space.params.size());
  std::vector<TpeGroups::Coordinate> coordinates(space.params.size());
  Rng rng(1);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Point point = sample(space, rng);
    groups.encode(point, coordinates);
    for (std::size_t v = 0; v < coordinates.size(); ++v) {
      CAPTURE(space.params[v].path, point.values[v]);
      const auto& [x, cell] = coordinates[v];
      const MixtureAxis& axis = groups.variables()[v].axis;
      if (axis.categories == 0) CHECK((x >= axis.low && x <= axis.high));
      CHECK(groups.value(v, x) == Approx(point.values[v]).epsilon(1e-9).margin(1e-12));
      CHECK(groups.rounded(v, x, rng) == Approx(x).margin(1e-9));
      const bool rounds = v >= 1 && v != 4 && v != 6 && v != 8 && v != 9;
      CHECK((cell > 0) == rounds);
      // Anywhere in the middle of the cell is the same value.
      if (rounds && v != 3) CHECK(groups.value(v, x + 0.2 * cell) == point.values[v]);
    }
  }
}

}  // namespace attune::tpe_groups_test
