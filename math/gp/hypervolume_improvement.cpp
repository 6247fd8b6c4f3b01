#include "math/gp/hypervolume_improvement.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/gp/log_improvement.h"
#include "math/pareto.h"

namespace attune {
namespace {

constexpr double kMostBoxes = 4096;
constexpr double kNothing = -std::numeric_limits<double>::infinity();

// log(1 - exp(x)), x <= 0.
double log_complement(double x) {
  return x > -0.69 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

// How many points of a front are kept: n points are cut into at most (n + 1)^(objectives - 1)
// boxes.
std::size_t most_points(std::size_t objectives) {
  if (objectives < 2) return 1;
  const double most = std::pow(kMostBoxes, 1 / static_cast<double>(objectives - 1));
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::min(most, 1000.0)) - 1);
}

// The undominated ones of the results that are better than the reference everywhere.
std::vector<double> front_of(std::span<const double> results, std::span<const double> reference) {
  const std::size_t k = reference.size();
  std::vector<double> rows;
  for (std::size_t at = 0; at < results.size(); at += k) {
    const auto row = results.subspan(at, k);
    const bool better = std::ranges::equal(row, reference, std::less<>());
    if (better) rows.insert(rows.end(), row.begin(), row.end());
  }
  if (rows.empty()) return rows;
  const std::vector<std::size_t> fronts = nondominated_fronts(rows, k);
  std::vector<double> front;
  for (const std::size_t i : crowded_order(rows, k)) {
    if (fronts[i] > 0 || front.size() == k * most_points(k)) break;
    front.insert(front.end(), rows.begin() + static_cast<std::ptrdiff_t>(i * k),
                 rows.begin() + static_cast<std::ptrdiff_t>(i * k + k));
  }
  return front;
}

}  // namespace

HypervolumeImprovement::HypervolumeImprovement(std::span<const double> results,
                                               std::span<const double> reference)
    : axes_(reference.size()) {
  const std::size_t k = reference.size();
  const std::vector<double> front = front_of(results, reference);
  std::vector<std::size_t> numbers(front.size());  // index of the edge of each number in `front`
  for (std::size_t j = 0; j < k; ++j) {
    std::vector<double>& edges = axes_[j].edges;
    for (std::size_t at = j; at < front.size(); at += k) edges.push_back(front[at]);
    std::ranges::sort(edges);
    edges.erase(std::ranges::unique(edges).begin(), edges.end());
    // Boxes are cut by indices of edges: equal coordinates share an edge, and each interval's
    // expectation is computed only once.
    edges.insert(edges.begin(), kNothing);
    edges.push_back(reference[j]);
    for (std::size_t at = j; at < front.size(); at += k) {
      numbers[at] =
          static_cast<std::size_t>(std::ranges::lower_bound(edges, front[at]) - edges.begin());
    }
  }
  std::vector<const std::size_t*> points;
  for (std::size_t at = 0; at < numbers.size(); at += k) points.push_back(&numbers[at]);
  std::vector<std::size_t> tail;
  cut(std::move(points), k, tail);
}

std::size_t HypervolumeImprovement::interval(std::size_t axis, Interval wanted) {
  auto& all = axes_[axis].intervals;
  const auto found = std::ranges::find(all, wanted);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  all.push_back(wanted);
  return all.size() - 1;
}

// Cuts the last objective into slabs. In each slab, the points that reach below it cut the
// remaining objectives.
void HypervolumeImprovement::cut(std::vector<const std::size_t*> points, std::size_t dimensions,
                                 std::vector<std::size_t>& tail) {
  const std::size_t axis = dimensions - 1;
  std::ranges::stable_sort(points, {}, [axis](const std::size_t* point) { return point[axis]; });
  const std::size_t end = axes_[axis].edges.size() - 1;
  if (axis == 0) {
    const std::size_t high = points.empty() ? end : points.front()[0];
    boxes_.push_back(interval(0, {0, high}));
    boxes_.insert(boxes_.end(), tail.rbegin(), tail.rend());
    return;
  }
  std::size_t low = 0, below = 0;
  while (low < end) {
    const std::size_t high = below < points.size() ? points[below][axis] : end;
    if (high > low) {
      tail.push_back(interval(axis, {low, high}));
      cut({points.begin(), points.begin() + static_cast<std::ptrdiff_t>(below)}, axis, tail);
      tail.pop_back();
      low = high;
    }
    if (below < points.size()) ++below;
  }
}

double HypervolumeImprovement::log_expectation(std::span<const double> means,
                                               std::span<const double> deviations,
                                               std::span<double> by_mean,
                                               std::span<double> by_deviation) const {
  const std::size_t k = objectives();
  // For each interval: the logarithm of E[max(0, high - Y)] - E[max(0, low - Y)], and its
  // derivatives.
  struct Share {
    double log = 0, by_mean = 0, by_deviation = 0;
  };
  std::vector<std::vector<Share>> shares(k);
  for (std::size_t j = 0; j < k; ++j) {
    std::vector<LogImprovement> at;  // of edges
    for (const double edge : axes_[j].edges) {
      at.push_back(edge == kNothing ? LogImprovement{kNothing, 0, 0}
                                    : log_expected_improvement(means[j], deviations[j], edge));
    }
    for (const auto& [low, high] : axes_[j].intervals) {
      // log(exp(a) - exp(b)) = a + log(1 - exp(b - a)), which keeps its digits when both underflow.
      const double less = at[low].value - at[high].value;
      const double log = at[high].value + (low == 0 ? 0 : log_complement(std::min(less, 0.0)));
      if (log == kNothing) {
        shares[j].push_back({kNothing, 0, 0});
        continue;
      }
      const double upper = std::exp(at[high].value - log);
      const double lower = low == 0 ? 0 : std::exp(at[low].value - log);
      shares[j].push_back({log, upper * at[high].by_mean - lower * at[low].by_mean,
                           upper * at[high].by_deviation - lower * at[low].by_deviation});
    }
  }

  std::vector<double> logs(boxes());
  for (std::size_t b = 0; b < logs.size(); ++b) {
    for (std::size_t j = 0; j < k; ++j) logs[b] += shares[j][boxes_[b * k + j]].log;
  }
  // The sum of the boxes, relative to the largest, so that it does not underflow.
  const double most = std::ranges::max(logs);
  double sum = 0;
  std::ranges::fill(by_mean, 0.0);
  std::ranges::fill(by_deviation, 0.0);
  for (std::size_t b = 0; b < logs.size(); ++b) {
    const double weight = std::exp(logs[b] - most);
    if (weight == 0) continue;
    sum += weight;
    for (std::size_t j = 0; j < k; ++j) {
      const Share& share = shares[j][boxes_[b * k + j]];
      by_mean[j] += weight * share.by_mean;
      by_deviation[j] += weight * share.by_deviation;
    }
  }
  for (std::size_t j = 0; j < k; ++j) {
    by_mean[j] /= sum;
    by_deviation[j] /= sum;
  }
  return most + std::log(sum);
}

}  // namespace attune
