#pragma once
// What the tuner is to assume of a trial that the assessor has stopped, and that has no result
// therefore.
//
// The AssessWorker, which has the reports, makes expected_end() of them. The Session, which has the
// results, makes the value of that (StandIns), and tells it with the end of the trial. So no tuner
// needs to know of the rule.
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/trial.h"
#include "tuners/tuner.h"

namespace attune {

enum class StoppedTrials {
  ignore,        // the tuner is told that the trial was stopped, without a value
  last,          // the values of its last report
  worst,         // the worst result of any trial, or the trial's own last value if that is worse
  extrapolated,  // what its curves predict for the end, within the results and its own last value
};
std::span<const std::string_view> names_of_stopped_trials();
std::optional<StoppedTrials> parse_stopped_trials(std::string_view name);
std::string_view name_of(StoppedTrials what);

struct StoppedRule {
  StoppedTrials assume = StoppedTrials::ignore;
  std::vector<Objective> objectives = {};  // at least one, unless `assume` is ignore
  std::optional<Fidelity> fidelity = {};
};

// The last report; with `extrapolated` its objectives have the values that are predicted for the
// end of a full training. That is where the fidelity says, else where the longest trial has come
// to: `longest` reports. What cannot be predicted, and the metrics with a limit, stay as they are.
// `reports` are not empty.
Metrics expected_end(const StoppedRule& rule, std::span<const Report> reports, std::size_t longest);

// Makes the values that the tuner is told. A value.
class StandIns {
 public:
  explicit StandIns(StoppedRule rule) : rule_(std::move(rule)) { clear(); }

  // Forgets all outcomes, and learns one.
  void clear() { bounds_.assign(rule_.objectives.size(), {}); }
  void add(const Outcome& outcome);

  // `last`: the report at which the trial was stopped. `expected`: by expected_end().
  Metrics operator()(const Metrics& last, const Metrics& expected) const;

 private:
  struct Bounds {  // of the finite results; nothing is known while low > high
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    void include(double value);
  };

  StoppedRule rule_;
  std::vector<Bounds> bounds_;  // one for each objective
};

}  // namespace attune
