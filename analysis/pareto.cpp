#include "analysis/pareto.h"

#include <algorithm>

#include "base/check.h"
#include "base/leaders.h"
#include "math/hypervolume.h"

namespace attune {
namespace {

std::vector<double> worst_of(std::span<const Standing> standings) {
  std::vector<double> worst;
  for (const Standing& standing : standings) {
    if (standing.violation > 0) continue;
    if (worst.empty()) worst = standing.values;
    for (std::size_t i = 0; i < worst.size(); ++i) {
      worst[i] = std::max(worst[i], standing.values[i]);
    }
  }
  return worst;
}

double covered(std::span<const Standing> standings, const Leaders& leaders,
               const std::vector<double>& reference) {
  std::vector<double> rows;
  for (const Leaders::Id id : leaders.ids()) {
    const std::vector<double>& values = standings[static_cast<std::size_t>(id)].values;
    ATTUNE_CHECK(values.size() == reference.size());
    rows.insert(rows.end(), values.begin(), values.end());
  }
  return hypervolume(rows, reference.size(), reference);
}

}  // namespace

ParetoHistory pareto_history(std::span<const Standing> standings, std::size_t most,
                             std::vector<double> reference) {
  ATTUNE_CHECK(most >= 1);
  ParetoHistory history;
  history.reference = reference.empty() ? worst_of(standings) : std::move(reference);
  Leaders leaders;
  Coverage last;
  bool changed = false;
  const std::size_t steps = std::min(most, standings.size());
  for (std::size_t k = 0; k < standings.size(); ++k) {
    changed = leaders.offer(static_cast<Leaders::Id>(k), standings[k]).leads || changed;
    last.results = k + 1;
    if (last.results < (history.steps.size() + 1) * standings.size() / steps) continue;
    if (changed && leaders.keep_limits()) {
      last.front = leaders.ids().size();
      // Equal fronts give other last digits in another order.
      last.volume = std::max(last.volume, covered(standings, leaders, history.reference));
    }
    changed = false;
    history.steps.push_back(last);
  }
  if (leaders.keep_limits()) {
    for (const Leaders::Id id : leaders.ids())
      history.front.push_back(static_cast<std::size_t>(id));
  }
  return history;
}

}  // namespace attune
