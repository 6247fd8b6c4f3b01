#include "rungs/stopping_syne.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "rungs/levels.h"

namespace attune {

SyneStoppingRule::SyneStoppingRule(SyneStoppingOptions options)
    : options_(std::move(options)),
      probabilities_(
          syne_bracket_probabilities(options_.levels, options_.max_t, options_.brackets)),
      rungs_(options_.levels.size()),
      thresholds_(options_.levels.size(), std::numeric_limits<double>::quiet_NaN()) {}

Decision SyneStoppingRule::judge(TrialId trial, RungVisitor& visitor, double resource,
                                 std::span<const double> losses) {
  const auto max_t = static_cast<double>(options_.max_t);
  if (resource >= max_t) return fully_used(trial, resource, max_t);

  const auto level = [](std::int64_t each) { return static_cast<double>(each); };
  const auto found = std::ranges::lower_bound(options_.levels, resource, {}, level);
  const auto k = static_cast<std::size_t>(found - options_.levels.begin());
  if (k == rungs_.size() || level(*found) != resource || k < visitor.bracket ||
      !visitor.passed.insert(k).second) {
    return {trial};
  }
  const double loss = std::isnan(losses[0]) ? kWorstLoss : losses[0];
  SortedNumbers& rung = rungs_[k];
  rung.insert(loss);
  const double next = k + 1 < rungs_.size() ? level(options_.levels[k + 1]) : max_t;
  const double share = resource / next;
  const double sign = options_.maximise ? -1 : 1;
  const auto cutoff = syne_cutoff(rung, share, options_.maximise);
  if (cutoff && loss > *cutoff) {
    return {trial, Action::stop,
            at_cutoff(resource, sign * loss, rung.count_below(loss) + 1, rung.size(), share,
                      sign * *cutoff)};
  }
  // Trials with negative ids were not proposed by the tuner; so they are not the known good ones.
  if (trial >= 0 && trial < options_.threshold_candidates) {
    thresholds_[k] = std::fmin(thresholds_[k], loss);  // fmin ignores NaN
  } else if (loss > thresholds_[k]) {                  // false for NaN
    return {trial, Action::stop,
            fmt::format("rung {:.6g}: {} is worse than {:.6g}, the best of the first {} trials",
                        resource, result_text(sign * loss), sign * thresholds_[k],
                        options_.threshold_candidates)};
  }
  return {trial};
}

json SyneStoppingRule::save() const {
  return {{"losses", save_rungs(rungs_)}, {"thresholds", save_numbers(thresholds_)}};
}

Result<std::unique_ptr<StoppingRule>> SyneStoppingRule::loaded(const json& state) const {
  auto rule = std::make_unique<SyneStoppingRule>(*this);
  rule->rungs_ = TRY(load_rungs(TRY(array_at(state, "losses"))));
  rule->thresholds_ = TRY(numbers_at(state, "thresholds"));
  if (rule->rungs_.size() != rungs_.size() || rule->thresholds_.size() != rungs_.size()) {
    return fail("saved state: rungs: of other levels");
  }
  if (std::ranges::any_of(rule->thresholds_, [](double x) { return std::isinf(x); })) {
    return fail("saved state: rungs: a threshold is infinite");
  }
  return rule;
}

bool SyneStoppingRule::possible(const RungVisitor& visitor) const {
  return visitor.bracket < probabilities_.size() &&
         (visitor.passed.empty() ||
          (*visitor.passed.begin() >= visitor.bracket && *visitor.passed.rbegin() < rungs_.size()));
}

}  // namespace attune
