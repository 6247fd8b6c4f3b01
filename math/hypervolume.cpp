#include "math/hypervolume.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace attune {
namespace {

// What a row gains on the reference: maximised, in (0, 1].
using Gains = std::vector<double>;

// The area below corners of a plane, as they come.
class Staircase {
 public:
  double area() const { return area_; }

  // Behind all others, where the first coordinates ascend: then in amortised constant time.
  void insert(double x, double y) {
    const auto right = std::ranges::lower_bound(corners_, x, {}, &Corner::x);
    double height = right == corners_.end() ? 0 : right->y;
    if (height >= y) return;
    auto left = right;
    double edge = x;
    while (left != corners_.begin() && std::prev(left)->y <= y) {
      --left;
      area_ += (edge - left->x) * (y - height);
      edge = left->x;
      height = left->y;
    }
    const double end = left == corners_.begin() ? 0 : std::prev(left)->x;
    area_ += (edge - end) * (y - height);
    // A corner at the same x is covered now.
    const auto covered_end = right != corners_.end() && right->x == x ? right + 1 : right;
    corners_.insert(corners_.erase(left, covered_end), {x, y});
  }

 private:
  struct Corner {
    double x = 0, y = 0;
  };
  std::vector<Corner> corners_;  // x ascends, y descends
  double area_ = 0;
};

// Those that no other one covers.
std::vector<Gains> uncovered(std::vector<Gains> rows) {
  std::vector<Gains> kept;
  std::ranges::sort(rows, std::greater<>());  // who covers stands before
  for (Gains& row : rows) {
    const bool covered = std::ranges::any_of(kept, [&](const Gains& other) {
      return std::ranges::equal(row, other, std::less_equal<>());
    });
    if (!covered) kept.push_back(std::move(row));
  }
  return kept;
}

double plane(std::vector<Gains> rows) {
  std::ranges::sort(rows);
  Staircase staircase;
  for (const Gains& row : rows) staircase.insert(row[0], row[1]);
  return staircase.area();
}

// From above downwards, the area of what reaches at least so high.
double solid(std::vector<Gains> rows) {
  std::ranges::stable_sort(rows, std::greater<>(), [](const Gains& row) { return row[2]; });
  Staircase staircase;
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    staircase.insert(rows[i][0], rows[i][1]);
    sum += staircase.area() * (rows[i][2] - (i + 1 < rows.size() ? rows[i + 1][2] : 0));
  }
  return sum;
}

double volume(std::vector<Gains> rows, std::size_t dimensions) {
  if (rows.empty()) return 0;
  if (dimensions == 1) return std::ranges::max(rows)[0];
  if (dimensions == 2) return plane(std::move(rows));
  if (dimensions == 3) return solid(std::move(rows));
  rows = uncovered(std::move(rows));
  const std::size_t last = dimensions - 1;
  std::ranges::stable_sort(rows, {}, [&](const Gains& row) { return row[last]; });
  double sum = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Gains& row = rows[k];
    double whole = 1;
    for (std::size_t i = 0; i < last; ++i) whole *= row[i];
    // What the rows behind cover of it: all of them reach at least as far in the last dimension.
    std::vector<Gains> limited;
    limited.reserve(rows.size() - k);
    for (std::size_t other = k + 1; other < rows.size(); ++other) {
      Gains limit(last);
      for (std::size_t i = 0; i < last; ++i) limit[i] = std::min(row[i], rows[other][i]);
      limited.push_back(std::move(limit));
    }
    sum += row[last] * std::max(0.0, whole - volume(std::move(limited), last));
  }
  return sum;
}

}  // namespace

double hypervolume(std::span<const double> values, std::size_t objectives,
                   std::span<const double> reference) {
  std::vector<std::span<const double>> rows;
  for (std::size_t first = 0; first < values.size(); first += objectives) {
    const auto row = values.subspan(first, objectives);
    if (std::ranges::equal(row, reference, std::less<>())) rows.push_back(row);
  }
  if (rows.empty()) return 0;

  // Gains as shares of a power of two, so that products neither overflow nor lose a digit.
  std::vector<Gains> gains(rows.size(), Gains(objectives));
  int exponent = 0;
  for (std::size_t i = 0; i < objectives; ++i) {
    const auto value = [i](const auto& row) { return row[i]; };
    const double best = value(std::ranges::min(rows, {}, value));
    const bool is_long = !std::isfinite(reference[i] - best);
    const double unit = is_long ? 0.5 : 1;
    const int scale = std::ilogb(reference[i] * unit - best * unit) + 1;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      gains[k][i] = std::ldexp(reference[i] * unit - rows[k][i] * unit, -scale);
    }
    exponent += scale + (is_long ? 1 : 0);
  }
  return std::ldexp(volume(std::move(gains), objectives), exponent);
}

}  // namespace attune
