#include "math/curves/level_map.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

// The prior of a slope counts as one pair of trials that differ as trials usually do at that level.
constexpr double kPriorSlope = 0.8;
constexpr double kPriorWeight = 1;
constexpr double kSteepest = 3;

struct Moments {
  double count = 0, mean = 0, squares = 0;  // squares: sum of squared distances from the mean

  void add(double x) {
    ++count;
    const double from = x - mean;
    mean += from / count;
    squares += from * (x - mean);
  }
};

}  // namespace

LevelMap::LevelMap(std::span<const std::vector<double>> losses, std::size_t levels)
    : lines_(levels > 0 ? levels - 1 : 0) {
  for (std::size_t k = 0; k + 1 < levels; ++k) {
    Moments all, here, above;
    double products = 0;
    for (const std::vector<double>& trial : losses) {
      if (!std::isfinite(trial[k])) continue;
      all.add(trial[k]);
      if (!std::isfinite(trial[k + 1])) continue;
      const double from = trial[k] - here.mean;
      here.add(trial[k]);
      above.add(trial[k + 1]);
      products += from * (trial[k + 1] - above.mean);
    }
    if (here.count == 0) continue;
    top_ = k + 1;
    const double prior = kPriorWeight * all.squares / all.count;
    Line& line = lines_[k];
    // Without any difference between the trials the slope does not matter.
    if (here.squares + prior > 0) {
      line.slope =
          std::clamp((products + prior * kPriorSlope) / (here.squares + prior), 0.0, kSteepest);
    }
    line.offset = above.mean - line.slope * here.mean;
  }
}

double LevelMap::to_top(double loss, std::size_t level) const {
  for (std::size_t k = level; k < top_; ++k) loss = lines_[k].offset + lines_[k].slope * loss;
  return loss;
}

}  // namespace attune
