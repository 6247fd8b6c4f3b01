// When FreezeThaw has begun all its trials: whether those that are worth it were trained in full.
#include <algorithm>
#include <cmath>

#include "base/standing.h"
#include "math/pareto.h"
#include "tuners/parts/freeze_thaw.h"

namespace attune {

// Whether the best has been trained in full. Those that have failed, or were stopped, do not count.
bool FreezeThaw::is_settled(const CurveEnds& ends) const {
  if (model().results().shape().objectives > 1) return is_front_settled();
  for (const auto& [end, number] : ends) {
    if (std::isfinite(model().loss(number, ledger_.levels().last()))) return true;
    if (trials()[number].state == Curve::State::running || can_go_on(number)) return false;
  }
  return true;
}

// The same of all that no other is expected to dominate. If none keeps all limits, of the one that
// breaks them least.
bool FreezeThaw::is_front_settled() const {
  const CurveResults& results = model().results();
  const std::size_t objectives = results.shape().objectives;
  struct Candidate {
    bool is_settled = true;
    double violation = 0;
    std::vector<double> end = {};
  };
  std::vector<Candidate> all;
  for (std::size_t number = 0; number < model().size(); ++number) {
    const bool is_full = results.is_finite(number, ledger_.levels().last());
    const bool goes_on = trials()[number].state == Curve::State::running || can_go_on(number);
    auto end = is_full || goes_on ? model().rough_result(number) : std::nullopt;
    if (!end) continue;
    const double by = violation(*end, objectives);
    end->resize(objectives);
    all.push_back({is_full, by, *std::move(end)});
  }
  if (all.empty()) return true;
  const double least = std::ranges::min_element(all, {}, &Candidate::violation)->violation;
  std::erase_if(all, [&](const Candidate& one) { return one.violation > least; });
  std::vector<double> rows;
  for (const Candidate& one : all) rows.insert(rows.end(), one.end.begin(), one.end.end());
  const std::vector<std::size_t> fronts = nondominated_fronts(rows, objectives);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (fronts[i] == 0 && !all[i].is_settled) return false;
  }
  return true;
}

}  // namespace attune
