#pragma once
// Sums over an experiment (trials, time, cost, metrics), and the criteria that end the experiment.
// After Syne Tune's TuningStatus and StoppingCriterion, and Ray Tune's TRIALRUNNER_WALLTIME_LIMIT.
// The cost of an event does not depend on the number of trials.
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/json.h"
#include "base/standing.h"
#include "base/trial.h"

namespace attune {

// The metrics in a reported value. A bare number or boolean is that of the first objective, whose
// name is `objective`: the daemon takes it so, too. Of an object the numbers and booleans, in their
// order; anything else has none.
Metrics metrics_of(const json& value, const std::string& objective);

// Of one metric, over all reports that counted. NaN is left out.
struct MetricStatistics {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
  double last = 0;
  std::int64_t count = 0;
};

struct StopRules;

class TuningStatus {
 public:
  // A report that counts. `seconds`: how long the trial has run since its last report.
  void on_report(const std::string& job_id, const Metrics& metrics, double seconds);
  void on_attempt_end(double seconds) { trial_seconds_ += seconds; }  // as for on_report()
  void on_end(const std::string& job_id);  // the trial has ended, and reports nothing more
  void on_started() { ++started_; }
  void on_completed() { ++completed_; }
  void on_failed() { ++failed_; }
  void on_stopped() { ++stopped_; }
  // A trial has succeeded; for the plateau rule, which looks at the first objective. `maximize`: of
  // that objective. A result that breaks a limit is never an improvement. While no result has kept
  // the limits, such results are not counted at all.
  void on_score(const Standing& standing, bool maximize, const StopRules& rules);

  // Sets best() and scores_since_best() from an earlier session. They cannot be computed anew: the
  // store does not give the order in which trials have ended.
  void set_plateau(std::optional<double> best, std::int64_t since_best) {
    best_ = best;
    since_best_ = since_best;
  }

  std::int64_t started() const { return started_; }
  std::int64_t completed() const { return completed_; }
  std::int64_t failed() const { return failed_; }
  std::int64_t finished() const { return completed_ + failed_ + stopped_; }
  std::int64_t evaluations() const { return evaluations_; }  // reports that counted
  double trial_seconds() const { return trial_seconds_; }    // summed over all trials
  // The sum over all trials of the largest value of the metric "cost" that each has reported.
  double cost() const { return ended_cost_ + live_cost_; }
  const MetricStatistics* metric(const std::string& name) const;  // null: never reported
  // The score that the plateau rule compares with, and how many trials have not improved it.
  std::optional<double> best() const { return best_; }
  std::int64_t scores_since_best() const { return since_best_; }

 private:
  std::int64_t started_ = 0, completed_ = 0, failed_ = 0, stopped_ = 0, evaluations_ = 0;
  double trial_seconds_ = 0;
  double ended_cost_ = 0, live_cost_ = 0;
  std::unordered_map<std::string, double> cost_of_;  // of trials that run
  std::map<std::string, MetricStatistics> metrics_;
  std::optional<double> best_;
  std::int64_t since_best_ = 0;
};

// The criteria that end an experiment; each one alone suffices. A `max_` rule is met by a value
// above it, not by an equal one: as in Syne Tune, it says how much is still allowed.
struct StopRules {
  struct Plateau {
    std::int64_t trials = 0;  // so many completed in a row...
    double tolerance = 0;     // ...that improved the best by no more than this
  };
  std::optional<double> max_trial_seconds;  // summed over trials
  std::optional<double> max_cost;
  std::optional<std::int64_t> max_started, max_completed, max_finished, max_evaluations, max_failed;
  // By metric; one report of any trial suffices.
  std::map<std::string, double> max_metric, min_metric;  // met by a value above; below
  std::map<std::string, double> reach_up, reach_down;    // met by a value of at least; at most
  std::optional<Plateau> plateau;

  // The criterion that is met, as text for people; nothing: none is.
  std::optional<std::string> met(const TuningStatus& status) const;
};

}  // namespace attune
