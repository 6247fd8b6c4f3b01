// Fronts, crowding distances, crowded order.
#include "math/pareto.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/rng.h"

namespace attune::pareto_test {

using Indices = std::vector<std::size_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// By the definition: peels off one front after the other.
Indices peeled(const std::vector<double>& rows, std::size_t objectives) {
  const std::span<const double> all(rows);
  const std::size_t n = rows.size() / objectives;
  const auto row = [&](std::size_t i) { return all.subspan(i * objectives, objectives); };
  Indices fronts(n, n);
  for (std::size_t front = 0, left = n; left > 0; ++front) {
    Indices members;
    for (std::size_t i = 0; i < n; ++i) {
      bool is_dominated = fronts[i] < n;
      for (std::size_t j = 0; j < n; ++j) {
        is_dominated = is_dominated || (fronts[j] == n && dominates(row(j), row(i)));
      }
      if (!is_dominated) members.push_back(i);
    }
    for (const std::size_t i : members) fronts[i] = front;
    left -= members.size();
  }
  return fronts;
}

TEST_CASE("pareto: domination needs an objective that is better and none that is worse") {
  using Row = std::vector<double>;
  CHECK(dominates(Row{1, 2}, Row{1, 3}));
  CHECK(dominates(Row{0, 2}, Row{1, 3}));
  CHECK_FALSE(dominates(Row{1, 2}, Row{1, 2}));
  CHECK_FALSE(dominates(Row{1, 4}, Row{2, 3}));
  CHECK_FALSE(dominates(Row{2, 3}, Row{1, 3}));
}

TEST_CASE("pareto: fronts are those of the definition") {
  Rng rng(3);
  for (const std::size_t objectives : {1u, 2u, 3u, 5u}) {
    for (const std::size_t n : {0u, 1u, 2u, 17u, 80u}) {
      for (const std::size_t levels : {2u, 5u, 1000u}) {  // few levels: equal rows, equal numbers
        std::vector<double> rows(n * objectives);
        for (double& x : rows) x = static_cast<double>(rng.index(levels)) - 2;
        CAPTURE(objectives, n, levels);
        CHECK(nondominated_fronts(rows, objectives) == peeled(rows, objectives));
      }
    }
  }
}

TEST_CASE("pareto: a chain has as many fronts as rows and a trade-off has one") {
  std::vector<double> chain, line;
  Indices ascending;
  for (std::size_t i = 0; i < 200; ++i) {
    const auto x = static_cast<double>(i);
    chain.insert(chain.end(), {x, x});
    line.insert(line.end(), {x, -x});
    ascending.push_back(i);
  }
  CHECK(nondominated_fronts(chain, 2) == ascending);
  CHECK(nondominated_fronts(line, 2) == Indices(200, 0));
}

TEST_CASE("pareto: crowding distance is half the rectangle between the neighbours") {
  const std::vector<double> rows = {9, 9, 0, 10, 1, 6, 4, 5, 10, 0};
  const auto distances = crowding_distances(rows, 2, Indices{4, 2, 3, 1});
  REQUIRE(distances.size() == 4);
  CHECK(distances[0] == kInfinity);
  CHECK(distances[1] == Approx(4.0 / 10 + 5.0 / 10));
  CHECK(distances[2] == Approx(9.0 / 10 + 6.0 / 10));
  CHECK(distances[3] == kInfinity);
}

TEST_CASE("pareto: of equal rows the first one has the distance") {
  const std::vector<double> rows = {5, 5, 0, 10, 0, 10, 10, 0, 5, 5, 5, 5};
  CHECK(crowding_distances(rows, 2, Indices{0, 1, 2, 3, 4, 5}) ==
        std::vector<double>{2, kInfinity, 0, kInfinity, 0, 0});
  CHECK(crowding_distances(rows, 2, Indices{5, 4, 2, 1, 3}) ==
        std::vector<double>{0, 2, 0, kInfinity, kInfinity});
  CHECK(crowding_distances(rows, 2, Indices{5, 4}) == std::vector<double>{0, kInfinity});
}

TEST_CASE("pareto: an objective in which all are equal tells nothing") {
  const std::vector<double> rows = {7, 0, 3, 7, 1, 2, 7, 4, 1, 7, 5, 0};
  const auto distances = crowding_distances(rows, 3, Indices{0, 1, 2, 3});
  CHECK(distances[0] == kInfinity);
  CHECK(distances[1] == Approx(4.0 / 5 + 2.0 / 3));
  CHECK(distances[2] == Approx(4.0 / 5 + 2.0 / 3));
  CHECK(distances[3] == kInfinity);
  CHECK(crowding_distances(rows, 3, Indices{}).empty());
  CHECK(crowding_distances(rows, 3, Indices{2}) == std::vector<double>{kInfinity});
}

TEST_CASE("pareto: distances of huge and of tiny numbers") {
  const double huge = 1.7e308, tiny = 1e-300;
  const std::vector<double> rows = {-huge, tiny * 4, 0, tiny * 2, huge / 2, tiny, huge, 0};
  const auto distances = crowding_distances(rows, 2, Indices{0, 1, 2, 3});
  CHECK(distances[1] == Approx(0.75 + 0.75));
  CHECK(distances[2] == Approx(0.5 + 0.5));
}

TEST_CASE("pareto: crowded order is by front and then by distance and then by index") {
  // Front 0: rows 5, 1, 3, 4 and the copy 6 of row 3; front 1: rows 0 and 2.
  const std::vector<double> rows = {9, 9, 1, 6, 2, 10, 4, 5, 10, 0, 0, 10, 4, 5};
  CHECK(nondominated_fronts(rows, 2) == Indices{1, 0, 1, 0, 0, 0, 0});
  CHECK(crowded_order(rows, 2) == Indices{4, 5, 3, 1, 6, 0, 2});
  CHECK(crowded_order(std::vector<double>{3, 1, 2, 1}, 1) == Indices{1, 3, 2, 0});
  CHECK(crowded_order(std::vector<double>{}, 4).empty());
}

TEST_CASE("pareto: equal rows keep their order") {
  const std::vector<double> rows(60, 1e300);
  Indices ascending(20);
  for (std::size_t i = 0; i < 20; ++i) ascending[i] = i;
  CHECK(nondominated_fronts(rows, 3) == Indices(20, 0));
  CHECK(crowded_order(rows, 3) == ascending);
}

}  // namespace attune::pareto_test
