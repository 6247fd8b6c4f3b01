#include "base/standing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune {
namespace {

constexpr double kMost = std::numeric_limits<double>::max();

}  // namespace

bool several(std::span<const Objective> objectives) {
  return std::ranges::count_if(objectives, [](const Objective& each) { return !each.limit; }) > 1;
}

double to_minimise(double reported, const Objective& objective) {
  const double sign = objective.maximize ? -1 : 1;
  if (!objective.limit) return sign * reported;
  // The difference of two doubles may overflow.
  return std::clamp(sign * reported - sign * *objective.limit, -kMost, kMost);
}

double violation(std::span<const double> result, std::size_t objectives) {
  double sum = 0;
  for (const double excess : result.subspan(objectives)) {
    // A result that keeps a limit by far must not make up for one that it breaks.
    sum = std::min(sum + std::max(excess, 0.0), kMost);
  }
  return sum;
}

bool dominates(std::span<const double> a, std::span<const double> b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

std::optional<Standing> standing(std::span<const Objective> objectives,
                                 std::span<const std::optional<double>> reported) {
  Standing found;
  std::vector<double> excesses;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (!reported[i] || !std::isfinite(*reported[i])) return std::nullopt;
    (objectives[i].limit ? excesses : found.values)
        .push_back(to_minimise(*reported[i], objectives[i]));
  }
  found.violation = violation(excesses, 0);
  return found;
}

}  // namespace attune
