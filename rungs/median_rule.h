#pragma once
// The median stopping rule as Ray Tune has it: stops a trial whose best loss so far is worse than
// the median, over other trials, of the mean loss up to the same time. Golovin et al., "Google
// Vizier: A Service for Black-Box Optimization" (KDD 2017), section 3.2.1.
//
//                      Ray Tune since 2019                  Ray Tune of 2018 (completed_only)
//   other trials       all whose last result is as late     all that have completed, however short
//   mean over results  from `grace` on, up to the time      from the start, up to the time
//   judged             from `grace` on                      after `grace`
//
// Differences: a trial without a result in this range of time has no mean and does not count (for
// Ray the median is then NaN, and Ray since 2019 stops). With no other trial nothing is stopped.
//
// The cost of a report is that of a median at its time:
// - A time at which an eighth or more of the trials have a result too, as with iterations, gets a
//   sorted list of the means. The next report at this time is O(log trials), plus the mean over the
//   trial's own results. A trial that passes such times without a report pays for each of them.
// - At any other time, as with seconds, the means are computed anew: O(trials that got as far).
//   With 10^5 of them that is some 70 milliseconds.
// Memory: 16 bytes a result, and 8 for each mean in a list.
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "math/sorted_numbers.h"

namespace attune {

class MedianRule {
 public:
  struct Options {
    bool completed_only = false;
    double grace = 60;
    std::size_t min_samples = 3;  // of other trials; with fewer nothing is stopped
    double min_time_slice = 0;    // between two yields of a trial
    bool hard_stop = true;        // else a trial that was worse is never judged again
  };
  // Both are finite; a time is not negative. Times of a trial normally ascend.
  struct TimedLoss {
    double time = 0, loss = 0;
  };
  enum class Verdict {
    good,
    yield,  // there are too few other trials to compare with, and one of them waits
    worse
  };
  struct Judgement {
    Verdict verdict = Verdict::good;
    double time = 0, best = 0, median = 0;
    std::size_t others = 0;
  };

  explicit MedianRule(const Options& options) : options_(options) {}
  MedianRule(MedianRule&&) = default;
  MedianRule& operator=(MedianRule&&) = default;

  // The next result of a trial. `others_wait`: whether some live trial is pending or paused.
  Judgement report(TrialId trial, TimedLoss result, bool others_wait);
  // Instead of all results of the trial so far, because one was reported again.
  Judgement rewrite(TrialId trial, std::span<const TimedLoss> results, bool others_wait);
  // The trial has completed. Ray passes the final result once more, and so counts it twice.
  void complete(TrialId trial, std::optional<TimedLoss> result);
  // Whether the trial was worse, and hard_stop is false. Its further results are not recorded.
  bool soft_stopped(TrialId trial) const;
  void forget(TrialId trial);

  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  // A list holds at most so many times the means of the trials that have a result at its time.
  static constexpr std::size_t kMostPerResult = 8;

  struct Curve {
    std::vector<double> times, losses;  // the times ascend
    double best = -kNever;
    double last = 0;  // the time of the result that came last
    double last_yield = kNever;
    bool completed = false;
    bool soft_stopped = false;
  };
  struct Median {
    std::size_t others = 0;
    double value = 0;
  };

  static Median median_without(const SortedNumbers& numbers, double own);
  static Median median_of(std::vector<double> numbers);
  bool counts(const Curve& curve) const;
  double end_of(const Curve& curve) const;
  std::optional<double> mean_at(const Curve& curve, double time) const;
  template <class Change>
  void change_lists(const Curve& curve, double after, Change change);
  void enter(TrialId trial, const Curve& curve, double after);
  void leave(TrialId trial, const Curve& curve);
  void append(TrialId trial, Curve& curve, TimedLoss result);
  Judgement judge(TrialId trial, Curve& curve, bool others_wait);
  Median others_median(TrialId trial, const Curve& curve, double time);

  Options options_;
  std::map<TrialId, Curve> curves_;
  // Those that count, by end_of() and id. The pointers are into `curves_`.
  std::map<std::pair<double, TrialId>, const Curve*> by_end_;
  std::map<double, SortedNumbers> means_;  // by time: of all that count. Derived, not saved
};

}  // namespace attune
