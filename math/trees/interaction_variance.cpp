#include "math/trees/interaction_variance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace attune {
namespace {

constexpr std::size_t kCells = 60;

// The cells of a dimension: for a position those of equal probability, else the categories.
class Cells {
 public:
  explicit Cells(const Axis& axis) : axis_(axis) {}

  bool position() const { return axis_.weights.empty(); }
  std::size_t size() const { return position() ? kCells : axis_.weights.size(); }
  double weight(std::size_t cell) const { return position() ? 1.0 / kCells : axis_.weights[cell]; }

  // Which part of each cell a bound leaves, as (cell, part). For a position these are the
  // differences to the cell before, of which there are four at most.
  using Parts = std::vector<std::pair<std::size_t, double>>;
  double cover(const Forest::Bound& bound, Parts& parts) const {
    parts.clear();
    if (position()) {
      const double low = probability_up_to(axis_, bound.low);
      const double high = probability_up_to(axis_, bound.high);
      add_edge(low, 1, parts);
      add_edge(high, -1, parts);
      return high - low;
    }
    double sum = 0;
    for (std::size_t c = 0; c < size(); ++c) {
      if (!bound.holds(c)) continue;
      parts.emplace_back(c, 1);
      sum += axis_.weights[c];
    }
    return sum;
  }

 private:
  // From this probability on it is `sign` more.
  static void add_edge(double probability, double sign, Parts& parts) {
    const double at = probability * kCells;
    const auto cell = static_cast<std::size_t>(at);
    const double inside = at - static_cast<double>(cell);
    if (cell < kCells) parts.emplace_back(cell, sign * (1 - inside));
    if (cell + 1 < kCells) parts.emplace_back(cell + 1, sign * inside);
  }

  const Axis& axis_;
};

// What the leaves that bound both dimensions add to the joint marginal. All other leaves add a sum
// of a function of each, which is no interaction.
class Joint {
 public:
  void add(const Cells::Parts& rows, const Cells::Parts& columns, std::size_t width,
           std::size_t size, double height) {
    heights_.resize(size, 0);
    for (const auto& [r, part] : rows) {
      for (const auto& [c, other] : columns) heights_[r * width + c] += height * part * other;
    }
  }

  double variance(const Cells& rows, const Cells& columns) {
    if (heights_.empty()) return 0;
    const std::size_t n = rows.size(), m = columns.size();
    if (columns.position()) {
      for (std::size_t k = 0; k < n * m; ++k) {
        if (k % m != 0) heights_[k] += heights_[k - 1];
      }
    }
    if (rows.position()) {
      for (std::size_t k = m; k < n * m; ++k) heights_[k] += heights_[k - m];
    }
    std::vector<double> of_row(n, 0), of_column(m, 0);
    double mean = 0;
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < m; ++c) {
        of_row[r] += columns.weight(c) * heights_[r * m + c];
        of_column[c] += rows.weight(r) * heights_[r * m + c];
      }
      mean += rows.weight(r) * of_row[r];
    }
    double variance = 0;
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < m; ++c) {
        const double beyond = heights_[r * m + c] - of_row[r] - of_column[c] + mean;
        variance += rows.weight(r) * columns.weight(c) * beyond * beyond;
      }
    }
    return variance;
  }

 private:
  std::vector<double> heights_;  // row by row; while leaves are added, differences along positions
};

}  // namespace

std::vector<double> interaction_variances(const Forest& forest, std::span<const Axis> axes) {
  ATTUNE_CHECK(!forest.empty() && axes.size() == forest.dimensions());
  const std::size_t d = axes.size();
  const std::vector<Cells> cells(axes.begin(), axes.end());
  std::vector<Joint> joints(d * d);
  std::vector<Cells::Parts> parts(d);
  std::vector<double> covered(d);
  std::vector<std::size_t> order;
  const double share = 1 / static_cast<double>(forest.trees());
  const auto add_leaf = [&](double mean, std::span<const Forest::Bound> bounds) {
    double all = share * mean;
    order.clear();
    for (const Forest::Bound& bound : bounds) {
      const std::size_t k = bound.dimension;
      order.push_back(k);
      all *= covered[k] = cells[k].cover(bound, parts[k]);
    }
    if (all == 0) return;  // also a leaf without any values
    std::ranges::sort(order);
    for (std::size_t a = 0; a < order.size(); ++a) {
      for (std::size_t b = a + 1; b < order.size(); ++b) {
        const std::size_t i = order[a], j = order[b];
        joints[i * d + j].add(parts[i], parts[j], cells[j].size(),
                              cells[i].size() * cells[j].size(), all / (covered[i] * covered[j]));
      }
    }
  };
  for (std::size_t tree = 0; tree < forest.trees(); ++tree) forest.visit_leaves(tree, add_leaf);
  std::vector<double> variances(d * d, 0);
  for (std::size_t k = 0; k < d * d; ++k) {
    variances[k] = joints[k].variance(cells[k / d], cells[k % d]);
  }
  return variances;
}

}  // namespace attune
