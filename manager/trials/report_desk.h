#pragma once
// Takes the reports of running trials: decides whether a report counts, stores it, tells the
// decider, and says what the runner must do because of it.
#include <optional>
#include <string>

#include "backends/trial_backend.h"
#include "manager/trials/announcer.h"
#include "manager/trials/decider.h"
#include "manager/trials/runner_options.h"
#include "manager/trials/trial_store.h"
#include "manager/trials/trial_table.h"
#include "manager/trials/tuning_status.h"

namespace attune {

class ReportDesk {
 public:
  // All arguments outlive the desk. `status` is told of every report that counts.
  ReportDesk(const RunnerOptions& options, Decider& decider, TrialStore& store,
             Announcer& announcer, TuningStatus& status)
      : options_(options),
        decider_(decider),
        store_(store),
        announcer_(announcer),
        status_(status) {}

  // What the runner must do about a report.
  struct Outcome {
    std::optional<EndAsked> end = {};  // ask the trial for this end; nothing: it goes on
    const char* by = "";               // who wants the end: DecisionRecord::by
    bool save = false;                 // save a checkpoint now
  };
  // `trial` is running. An intermediate result counts at once; a FINAL is held until
  // tell_results(). `decider_lost`: no decider can hear of it any more.
  Outcome take(LiveTrial& trial, const TrialReport& report, bool decider_lost);

  // Counts the FINAL results that are held, and tells the decider. The runner calls this when the
  // attempt has ended well: an attempt that fails may be retried, and the retry may report other
  // results.
  void tell_results(LiveTrial& trial, bool decider_lost);

 private:
  std::string why_ignored(const LiveTrial& trial, const TrialReport& report, bool known,
                          bool decider_lost) const;
  Outcome judge(LiveTrial& trial, const TrialReport& report, const Metrics& metrics,
                std::int64_t step);
  void hold(LiveTrial& trial, TrialReport report);
  void count(LiveTrial& trial, const Metrics& metrics, double time, std::optional<double> ran);
  Action tell(LiveTrial& trial, const TrialReport& report, std::int64_t step);
  std::string flaw_of(const Metrics& metrics) const;
  bool reaches_goal(double value) const;

  const RunnerOptions& options_;
  Decider& decider_;
  TrialStore& store_;
  Announcer& announcer_;
  TuningStatus& status_;
};

// Whether to save a checkpoint after an intermediate result. `stop`: the trial ends with this
// result.
bool checkpoint_due(const LiveTrial& trial, const Metrics& metrics, bool stop);

}  // namespace attune
