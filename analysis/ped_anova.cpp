#include "analysis/ped_anova.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "space/features.h"

namespace attune {
namespace {

constexpr std::size_t kCells = 50;
constexpr double kLeastDeviation = 0.3;  // of a kernel, in cells: 90 % of it is in its own cell
constexpr std::size_t kLeastTarget = 5;

using Counts = std::vector<double>;  // trials in each cell, or of each category

double sum_of(const Counts& counts) {
  double sum = 0;
  for (const double count : counts) sum += count;
  return sum;
}

// The result of the worst of the `count` best trials; count > 0.
double cutoff(std::vector<double> results, std::size_t count) {
  const auto last = results.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(results.begin(), last, results.end());
  return *last;
}

// The whole number of trials in a share of them; the tolerance is for the rounding of the product.
std::size_t rounded_up(double share, std::size_t trials) {
  const double count = std::ceil(share * static_cast<double>(trials) * (1 - 1e-12));
  return std::clamp<std::size_t>(static_cast<std::size_t>(count), 1, trials);
}

// The cell in which a share of the trials ends.
double quantile(const Counts& counts, double share) {
  double left = share * sum_of(counts);
  std::size_t cell = 0;
  while (cell + 1 < counts.size() && (left -= counts[cell]) > 0) ++cell;
  return static_cast<double>(cell);
}

// Scott's rule, in cells.
double kernel_deviation(const Counts& counts) {
  const double n = sum_of(counts);
  double mean = 0, squares = 0;
  for (std::size_t c = 0; c < kCells; ++c) mean += counts[c] * static_cast<double>(c) / n;
  for (std::size_t c = 0; c < kCells; ++c) {
    const double away = static_cast<double>(c) - mean;
    squares += counts[c] * away * away;
  }
  const double deviation = std::sqrt(squares / std::max(n - 1, 1.0));
  const double quartiles = quantile(counts, 0.75) - quantile(counts, 0.25);
  const double rule = 1.059 * std::min(deviation, quartiles / 1.34) * std::pow(n, -0.2);
  return std::max(rule, kLeastDeviation);
}

// Spreads the trials of each cell by a normal around it, cut off at the ends.
class Kernels {
 public:
  explicit Kernels(double deviation) {
    const double scale = deviation * std::numbers::sqrt2;
    for (std::size_t k = 0; k < below_.size(); ++k) {
      const double edge = static_cast<double>(k) - static_cast<double>(kCells) + 0.5;
      below_[k] = std::erfc(-edge / scale) / 2;
    }
  }

  Counts spread(const Counts& counts) const {
    Counts all(kCells, 0);
    for (std::size_t from = 0; from < kCells; ++from) {
      if (counts[from] == 0) continue;
      const double* edges = &below_[kCells - 1 - from];  // the lower edge of cell c is edges[c]
      const double each = counts[from] / (edges[kCells] - edges[0]);
      for (std::size_t to = 0; to < kCells; ++to) all[to] += each * (edges[to + 1] - edges[to]);
    }
    return all;
  }

 private:
  // The probability below each edge of cells, from kCells - 0.5 below the middle of the kernel.
  std::array<double, 2 * kCells> below_{};
};

// The Pearson divergence of the target from the region, of which it is a part.
double divergence(const Counts& target, const Counts& region) {
  const double targets = sum_of(target), regions = sum_of(region);
  double sum = 0;
  for (std::size_t c = 0; c < region.size(); ++c) {
    if (region[c] == 0) continue;
    const double q = region[c] / regions;
    const double away = target[c] / targets - q;
    sum += away * away / q;
  }
  const double prior = targets / (targets + 1);  // p = prior * frequency + (1 - prior) * q
  return prior * prior * sum;
}

// How often each value of a dimension occurs.
struct Dimension {
  explicit Dimension(std::size_t categories)
      : positions(categories == 0),
        target(positions ? kCells : categories, 0),
        region(positions ? kCells : categories, 0) {}

  std::size_t cell(double x) const {
    if (!positions) return static_cast<std::size_t>(x);
    return std::min(static_cast<std::size_t>(x * static_cast<double>(kCells)), kCells - 1);
  }

  // a^2/b times the divergence among the trials in which the parameter is active.
  double amount(std::size_t targets, std::size_t regions) const {
    const double active = sum_of(target);
    if (active == 0) return 0;
    const double a = active / static_cast<double>(targets);
    const double b = sum_of(region) / static_cast<double>(regions);
    if (!positions) return a * a / b * divergence(target, region);
    const Kernels kernels(kernel_deviation(target));
    return a * a / b * divergence(kernels.spread(target), kernels.spread(region));
  }

  bool positions;
  Counts target, region;
};

}  // namespace

PedAnovaAnswer ped_anova(const Evidence& evidence, const PedAnovaSettings& settings) {
  ATTUNE_CHECK(settings.target > 0 && settings.target <= settings.region && settings.region <= 1);
  ATTUNE_CHECK(evidence.points.size() == evidence.results.size());
  const Space space = with_own_names(evidence.space);
  PedAnovaAnswer answer;
  std::vector<double> amounts(space.params.size(), 0);
  if (const std::size_t trials = evidence.results.size(); trials > 0) {
    const Features features(space);
    std::vector<Dimension> dimensions;
    for (const std::size_t n : features.categories()) dimensions.emplace_back(n);
    const std::size_t region = rounded_up(settings.region, trials);
    const std::size_t target =
        std::max(rounded_up(settings.target, trials), std::min(kLeastTarget, region / 2));
    const double target_end = cutoff(evidence.results, target);
    const double region_end = cutoff(evidence.results, region);
    std::vector<double> row(features.size());
    for (std::size_t k = 0; k < trials; ++k) {
      if (evidence.results[k] > region_end) continue;
      const bool best = evidence.results[k] <= target_end;
      ++answer.region;
      if (best) ++answer.target;
      features.encode(evidence.points[k], row);
      for (std::size_t d = 0; d < row.size(); ++d) {
        if (row[d] != row[d]) continue;  // inactive
        const std::size_t cell = dimensions[d].cell(row[d]);
        ++dimensions[d].region[cell];
        if (best) ++dimensions[d].target[cell];
      }
    }
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      const auto [first, count] = features.place(i);
      for (std::size_t d = first; d < first + count; ++d) {
        amounts[i] += dimensions[d].amount(answer.target, answer.region);
      }
    }
  }
  answer.shares = shares_of(space, amounts);
  return answer;
}

}  // namespace attune
