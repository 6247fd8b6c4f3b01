#include "math/gp/mixed_rows.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"

namespace attune::mixed_rows_test {

using Numbers = std::vector<double>;

// Two positions, three categories, two categories; what is NaN is inactive.
const std::vector<Numbers> kRows = {
    {0.1, 0.9, 0, 1}, {0.4, NAN, 2, NAN}, {1, 0, 2, 0}, {0.5, 0.5, NAN, 1}, {0, NAN, 1, NAN}};

MixedRows filled() {
  MixedRows rows({0, 0, 3, 2});
  for (const Numbers& row : kRows) rows.append(row);
  return rows;
}

double square(const MixedRows& rows, std::size_t d, double a, double b) {
  if (rows.is_position(d)) return std::pow((a == a ? a : 0.5) - (b == b ? b : 0.5), 2);
  return a == b || (a != a && b != b) ? 0 : 1;
}

TEST_CASE("mixed rows: weighted squares in one dimension, by definition") {
  const MixedRows rows = filled();
  CHECK(rows.size() == 5);
  for (std::size_t d = 0; d < 4; ++d) {
    CHECK(rows.is_position(d) == (d < 2));
    for (const double x : {kRows[0][d], kRows[2][d], static_cast<double>(NAN)}) {
      for (std::size_t from = 0; from <= 5; ++from) {
        Numbers weights;
        double sum = 0, differences = 0;
        for (std::size_t i = from; i < 5; ++i) {
          weights.push_back(static_cast<double>(i) - 1.5);
          sum += weights.back() * square(rows, d, x, kRows[i][d]);
          differences += weights.back() * ((x == x ? x : 0.5) - rows.at(i, d));
        }
        CHECK(rows.weigh_squares(d, x, from, weights) == Approx(sum).margin(1e-15));
        if (d < 2 && from == 0) {
          CHECK(rows.weigh_differences(d, x, weights) == Approx(differences).margin(1e-15));
        }
      }
    }
  }
}

// Positions in runs of one to nine, with categories between.
TEST_CASE("mixed rows: squared distances by definition") {
  const std::vector<std::size_t> categories = {0, 3, 0, 0, 0, 0, 2, 2, 0,
                                               0, 0, 0, 0, 0, 0, 0, 0, 4};
  Rng rng(5);
  const auto drawn = [&] {
    Numbers row;
    for (const std::size_t n : categories) {
      const double x = n > 0 ? static_cast<double>(rng.index(n)) : rng.uniform();
      row.push_back(rng.index(5) == 0 ? NAN : x);
    }
    return row;
  };
  MixedRows rows(categories);
  std::vector<Numbers> all;
  for (int i = 0; i < 9; ++i) rows.append(all.emplace_back(drawn()));
  const Numbers x = drawn();
  Numbers weights;
  for (std::size_t d = 0; d < categories.size(); ++d) weights.push_back(rng.uniform(0.1, 3));
  for (std::size_t from = 0; from <= 9; ++from) {
    Numbers squares(9 - from, 10.0);
    rows.squares(x, weights, from, squares);
    for (std::size_t i = from; i < 9; ++i) {
      double sum = 0;
      for (std::size_t d = 0; d < x.size(); ++d) {
        sum += weights[d] * square(rows, d, x[d], all[i][d]);
      }
      CHECK(squares[i - from] == Approx(sum));
    }
  }
}

TEST_CASE("mixed rows: what is inactive is in the centre or a category of its own") {
  const MixedRows rows = filled();
  CHECK(rows.row(0) == kRows[0]);
  const Numbers imputed = rows.row(1);
  CHECK(imputed[1] == 0.5);
  CHECK((imputed[3] != 0 && imputed[3] != 1));
  CHECK(rows.row(4)[3] == imputed[3]);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t d = 0; d < 4; ++d) CHECK(rows.at(i, d) == rows.row(i)[d]);
  }
}

TEST_CASE("mixed rows: active dimensions of an average row") {
  MixedRows rows = filled();
  CHECK(rows.mean_active() == Approx(15.0 / 5));
  rows.resize(2);
  CHECK(rows.mean_active() == Approx(6.0 / 2));
  rows.append(kRows[0]);
  CHECK(rows.mean_active() == Approx(10.0 / 3));
  CHECK(rows.row(2) == kRows[0]);
  rows.resize(0);
  CHECK(rows.size() == 0);
  CHECK(rows.mean_active() == 0);
  MixedRows none({});
  none.append({});
  CHECK(none.size() == 1);
  CHECK(none.mean_active() == 0);
  CHECK(none.row(0).empty());
}

}  // namespace attune::mixed_rows_test
