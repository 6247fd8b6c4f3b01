#pragma once
// What trials report: whether it counts, what the decider hears of it, and what follows from it.
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
  // All outlive it. `status` is told of every report that counts.
  ReportDesk(const RunnerOptions& options, Decider& decider, TrialStore& store,
             Announcer& announcer, TuningStatus& status)
      : options_(options),
        decider_(decider),
        store_(store),
        announcer_(announcer),
        status_(status) {}

  // What the runner must do about a report.
  struct Outcome {
    std::optional<EndAsked> end = {};  // ask for this end,
    const char* by = "";               // which this one wants
    bool save = false;                 // a checkpoint is due now
  };
  // Of a running trial. `decider_lost`: there is no decider any more that could hear of it.
  Outcome take(LiveTrial& trial, const TrialReport& report, bool decider_lost);

  // The attempt has ended well: its FINAL results count. Before that it may still fail, and another
  // attempt may report something else.
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

// Whether a checkpoint is due after an intermediate result; `stop`: the trial ends with it.
bool checkpoint_due(const LiveTrial& trial, const Metrics& metrics, bool stop);

}  // namespace attune
