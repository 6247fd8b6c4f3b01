// The order of trials with several objectives at a rung of PromotionRungs.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/saved_numbers.h"
#include "math/pareto.h"
#include "rungs/promotion.h"

namespace attune {

// A new trial, which keeps all limits, is compared with the others.
void PromotionRungs::compare(Rung& rung, TrialId trial) const {
  rung.newest.push_back(trial);
  if (rung.newest.size() > kCompared) {
    Place& oldest = rung.places.at(rung.newest.front());
    leave(rung, entry_of(rung.newest.front(), oldest));
    oldest.waits = false;
    rung.newest.pop_front();
  }
  order_by_fronts(rung);
}

void PromotionRungs::order_by_fronts(Rung& rung) const {
  std::vector<double> rows;
  for (const TrialId trial : rung.newest) {
    const Place& place = rung.places.at(trial);
    rows.insert(rows.end(), place.values.begin(), place.values.end());
    leave(rung, entry_of(trial, place));
  }
  rung.kept = {};
  double loss = 0;
  for (const std::size_t i : crowded_order(rows, options_.objectives)) {
    const TrialId trial = rung.newest[i];
    Place& place = rung.places.at(trial);
    place.value.loss = loss++;
    add(rung, trial, place);
  }
}

Result<void> PromotionRungs::load_newest(Rung& rung, const json& state) const {
  const auto newest = TRY(numbers_at(state, "newest"));
  const auto values = TRY(numbers_at(state, "values"));
  const auto damaged = [] { return fail("saved state: the newest trials of a rung are damaged"); };
  if (!by_fronts()) return newest.empty() && values.empty() ? Result<void>() : damaged();
  std::set<TrialId> others;  // that keep all limits, and are not compared
  for (const auto& [trial, place] : rung.places) {
    if (place.value.violation == 0) others.insert(trial);
  }
  if (newest.size() != std::min(others.size(), kCompared) ||
      values.size() != others.size() * options_.objectives ||
      !std::ranges::all_of(values, [](double x) { return std::isfinite(x); })) {
    return damaged();
  }
  auto next = values.begin();
  for (const TrialId trial : others) {
    const auto end = next + static_cast<std::ptrdiff_t>(options_.objectives);
    rung.places.at(trial).values.assign(next, end);
    next = end;
  }
  for (const double trial : newest) {
    if (!is_whole(trial) || others.erase(static_cast<TrialId>(trial)) == 0) return damaged();
    rung.newest.push_back(static_cast<TrialId>(trial));
  }
  for (const TrialId trial : others) {
    if (rung.places.at(trial).waits) return damaged();
  }
  order_by_fronts(rung);
  return {};
}

}  // namespace attune
