#pragma once
// What the trials that have not ended reported of the objective's metric. Rules that judge a trial
// by its own curve are built on it (those of Optuna).
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"

namespace attune {

class LiveCurves {
 public:
  struct Curve {
    std::size_t seen = 0;  // reports, also those without the metric
    // Of the reports that count, ascending; the values as reported, not negated, maybe not
    // finite. The sizes are equal.
    std::vector<double> steps, values;
    // The extreme values; NaN as long as all values are NaN.
    double lowest = std::numeric_limits<double>::quiet_NaN();
    double highest = std::numeric_limits<double>::quiet_NaN();
  };

  // `step_attr`: the metric that is the step of a report; nothing: it is its number, from 0. A
  // report counts if it has the metric of the objective, and a step: a whole number, at least 0,
  // that the trial has not reported before. Steps may come in any order.
  explicit LiveCurves(Objective objective, std::optional<std::string> step_attr = std::nullopt)
      : objective_(std::move(objective)), step_attr_(std::move(step_attr)) {}

  // Takes what is new in `reports`, and calls judge(curve) -> Decision after each report that
  // counts, until a decision is not keep_going. If a step was reported again, takes all anew
  // and judges once.
  template <class Judge>
  Decision update(TrialId trial, std::span<const Report> reports, Judge judge) {
    Curve& curve = curves_[trial];
    const bool again = reports.size() <= curve.seen;
    if (again) curve = {};
    Decision decision{trial, Action::keep_going, {}};
    while (curve.seen < reports.size()) {
      const bool counts = append(curve, reports[curve.seen]);
      if (counts && decision.action == Action::keep_going &&
          (!again || curve.seen == reports.size())) {
        decision = judge(static_cast<const Curve&>(curve));
      }
    }
    return decision;
  }

  std::size_t seen(TrialId trial) const;
  // The curve of a trial that has ended; nothing for an unknown trial.
  std::optional<Curve> remove(TrialId trial);

  json save() const;
  // The curves of a saved state, for the same objective.
  Result<LiveCurves> loaded(const json& state) const;

 private:
  bool append(Curve& curve, const Report& report) const;

  Objective objective_;
  std::optional<std::string> step_attr_;
  std::map<TrialId, Curve> curves_;
};

// Optuna judges a trial at the first report of each interval: steps `warmup`, `warmup + interval`,
// and so on, or where the first later report lies. `steps`: those of the trial so far.
bool opens_interval(std::span<const double> steps, std::int64_t warmup, std::int64_t interval);

}  // namespace attune
