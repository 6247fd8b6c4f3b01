// The order of trials with several objectives at a rung of PromotionRungs.
#include <algorithm>
#include <cmath>

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
    oldest.values.clear();
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
  const std::size_t width = by_fronts() ? options_.objectives : 0;
  if (newest.size() > kCompared || values.size() != newest.size() * width ||
      (!by_fronts() && !newest.empty()) ||
      !std::ranges::all_of(values, [](double x) { return std::isfinite(x); })) {
    return damaged();
  }
  for (std::size_t i = 0; i < newest.size(); ++i) {
    if (!is_whole(newest[i])) return damaged();
    const auto found = rung.places.find(static_cast<TrialId>(newest[i]));
    if (found == rung.places.end() || found->second.value.violation > 0 ||
        !found->second.values.empty()) {
      return damaged();
    }
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * width);
    found->second.values.assign(begin, begin + static_cast<std::ptrdiff_t>(width));
    rung.newest.push_back(found->first);
  }
  if (!by_fronts()) return {};
  const auto waits_unseen = [](const auto& one) {
    return one.second.waits && one.second.value.violation == 0 && one.second.values.empty();
  };
  if (std::ranges::any_of(rung.places, waits_unseen)) return damaged();
  order_by_fronts(rung);
  return {};
}

}  // namespace attune
