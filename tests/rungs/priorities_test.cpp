#include "rungs/priorities.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "math/pareto.h"
#include "tests/support/scheduler_traces.h"

namespace attune::priorities_test {

using Indices = std::vector<std::size_t>;

std::vector<double> flat(const json& table) {
  std::vector<double> rows;
  for (const json& row : table) {
    for (const json& number : row) rows.push_back(number);
  }
  return rows;
}

Indices inverse(const Indices& order) {
  Indices places(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) places[order[place]] = place;
  return places;
}

// Syne Tune's nondominated_sort(): inside of a front it takes the places of the epsilon net for its
// order.
Indices upstream_sort(const std::vector<double>& rows, std::size_t objectives) {
  const Indices front_of = nondominated_fronts(rows, objectives);
  Indices all;
  for (std::size_t front = 0; all.size() < front_of.size(); ++front) {
    Indices members;
    std::vector<double> own;
    for (std::size_t i = 0; i < front_of.size(); ++i) {
      if (front_of[i] != front) continue;
      members.push_back(i);
      for (std::size_t d = 0; d < objectives; ++d) own.push_back(rows[i * objectives + d]);
    }
    for (const std::size_t k : inverse(epsilon_net(own, objectives))) all.push_back(members[k]);
  }
  return all;
}

TEST_CASE("priorities: all values of Syne Tune's sorts") {
  const json cases = read_trace(traces_folder() / "syne_unit_cases.json")["multi_objective_sort"];
  CHECK(cases.size() >= 30);
  for (const json& one : cases) {
    CAPTURE(one.dump());
    const std::vector<double> rows = flat(one["X"]);
    const std::size_t objectives = one["X"][0].size();
    const Indices fronts = nondominated_fronts(rows, objectives);
    for (std::size_t i = 0; i < fronts.size(); ++i) {
      CHECK((fronts[i] == 0) == one["pareto_mask"][i].get<bool>());
    }
    CHECK(inverse(epsilon_net(rows, objectives)) == one["epsnet_rank_dim0"].get<Indices>());
    Indices sorted = upstream_sort(rows, objectives);
    CHECK(sorted == one["nondominated_sort_dim0"].get<Indices>());
    sorted.resize(std::min<std::size_t>(sorted.size(), 3));
    CHECK(sorted == one["nondominated_sort_max3"].get<Indices>());
    CHECK(linear_priorities(rows, objectives) == one["linear"].get<std::vector<double>>());
  }
}

// From the definitions alone, one row at a time: the front by who is dominated by what is left, and
// in it the row that is farthest from those already placed.
std::vector<double> from_scratch(const std::vector<double>& rows, std::size_t objectives) {
  const std::size_t n = rows.size() / objectives;
  const auto row = [&](std::size_t i) {
    return std::span(rows).subspan(i * objectives, objectives);
  };
  const auto distance = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t d = 0; d < objectives; ++d) sum += std::pow(row(a)[d] - row(b)[d], 2);
    return std::sqrt(sum);
  };
  std::vector<double> places(n, -1);
  std::vector<bool> gone(n);
  double place = 0;
  while (place < static_cast<double>(n)) {
    Indices front;
    for (std::size_t i = 0; i < n; ++i) {
      bool best = !gone[i];
      for (std::size_t j = 0; j < n; ++j) best = best && (gone[j] || !dominates(row(j), row(i)));
      if (best) front.push_back(i);
    }
    Indices placed;
    while (placed.size() < front.size()) {
      std::optional<std::size_t> chosen;
      double best = 0;
      for (const std::size_t i : front) {
        if (places[i] >= 0) continue;
        double merit = placed.empty() ? -row(i)[0] : INFINITY;
        for (const std::size_t j : placed) merit = std::min(merit, distance(i, j));
        if (chosen && merit <= best) continue;
        chosen = i;
        best = merit;
      }
      places[*chosen] = place++;
      placed.push_back(*chosen);
    }
    for (const std::size_t i : front) gone[i] = true;
  }
  return places;
}

std::vector<double> places_of_all(const std::vector<double>& rows, std::size_t objectives) {
  std::vector<double> places;
  for (std::size_t i = 0; i < rows.size() / objectives; ++i) {
    places.push_back(static_cast<double>(nondominated_place(rows, objectives, i)));
  }
  return places;
}

TEST_CASE("priorities: by front, then spread over the front, computed from scratch") {
  Rng rng(11);
  for (int round = 0; round < 60; ++round) {
    const std::size_t objectives = 1 + rng.index(3), n = 1 + rng.index(25);
    std::vector<double> rows(objectives * n);
    for (double& number : rows) number = std::round(rng.normal() * (round % 2 ? 2 : 1000));
    CAPTURE(round);
    CHECK(places_of_all(rows, objectives) == from_scratch(rows, objectives));
  }
}

// Syne Tune gives the last of these the priority of the worst.
TEST_CASE("priorities: each row has its own place, not the index of the row at that place") {
  const std::vector<double> rows = {2, 2, 3, 3, 4, 4, 5, 5, 1, 1};
  CHECK(places_of_all(rows, 2) == std::vector<double>{1, 2, 3, 4, 0});
  CHECK(upstream_sort(rows, 2).back() == 3);
}

TEST_CASE("priorities: the mean may be weighted, and the first number may decide alone") {
  const std::vector<double> rows = {0, 1, 2, 3, 4, 5};
  CHECK(linear_priorities(rows, 3) == std::vector<double>{1, 4});
  const auto weighted = linear_priorities(rows, 3, std::vector{0.2, 0.4, 0.8});
  CHECK(weighted[0] == Approx(2.0 / 3));
  CHECK(weighted[1] == Approx(6.2 / 3));
  CHECK(first_priorities(rows, 3) == std::vector<double>{0, 3});
  CHECK(better_than_last(std::vector<double>{1, 4, 2, 2, 0, 2}) == 2);
}

TEST_CASE("priorities: numbers as large as they can be") {
  const double most = std::numeric_limits<double>::max();
  const std::vector<double> rows = {most, -most, -most, most, 0, 0, most, most};
  CHECK(places_of_all(rows, 2) == std::vector<double>{1, 0, 2, 3});
}

}  // namespace attune::priorities_test
