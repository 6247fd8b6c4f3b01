#pragma once
// What an experiment has used and reached so far, kept up to date event by event; and the criteria
// that end it. After Syne Tune's TuningStatus and StoppingCriterion, and Ray Tune's
// TRIALRUNNER_WALLTIME_LIMIT. Cost per event does not depend on the number of trials.
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

// The numbers of a reported value: a number is "default"; an object's numbers and booleans by their
// keys, in their order; anything else has none.
Metrics metrics_of(const json& value);

// Of one metric over all reports that counted, NaN left out.
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
  // `seconds`: of the trial since its last report.
  void on_report(const std::string& job_id, const Metrics& metrics, double seconds);
  void on_attempt_end(double seconds) { trial_seconds_ += seconds; }  // since its last report
  void on_end(const std::string& job_id);  // nothing more comes of the trial
  void on_started() { ++started_; }
  void on_completed() { ++completed_; }
  void on_failed() { ++failed_; }
  void on_stopped() { ++stopped_; }
  // The result of a trial that has completed, for the plateau rule: of the first objective, which
  // is to be maximized or not. One that breaks a limit is no improvement, and counts only once
  // there is something to improve.
  void on_score(const Standing& standing, bool maximize, const StopRules& rules);

  // Of an earlier session: the order in which its trials ended is not known any more.
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
  double cost() const { return ended_cost_ + live_cost_; }   // metric "cost": the sum of maxima
  const MetricStatistics* metric(const std::string& name) const;
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

// Any of them ends the experiment. Maxima are exceeded, not reached: as in Syne Tune, a criterion
// says how much is still allowed.
struct StopRules {
  struct Plateau {
    std::int64_t trials = 0;  // so many completed in a row...
    double tolerance = 0;     // ...that improved the best by no more than this
  };
  std::optional<double> max_trial_seconds;  // summed over trials
  std::optional<double> max_cost;
  std::optional<std::int64_t> max_started, max_completed, max_finished, max_evaluations, max_failed;
  std::map<std::string, double> max_metric, min_metric;  // any report above, below
  std::map<std::string, double> reach_up, reach_down;    // any report at least, at most
  std::optional<Plateau> plateau;

  // Why the experiment is over, if it is.
  std::optional<std::string> met(const TuningStatus& status) const;
};

}  // namespace attune
