#pragma once
// The observer of an experiment: shows it, keeps its results, and remembers the best trial.
#include <functional>
#include <string>

#include "runner/experiment_loop.h"
#include "runner/progress.h"
#include "runner/results.h"

namespace attune {

// What the summary says besides the trials.
struct RunFacts {
  std::string experiment_id;
  std::string directory;
  bool maximize = false;
  std::uint64_t seed = 0;
};

class Reporter final : public LoopObserver {
 public:
  Reporter(RunFacts facts, ResultsFile results, Progress& progress);

  void on_change(const Tally& tally) override;
  Result<void> on_trial_end(const TrialRecord& trial) override;
  void on_warning(const std::string& text) override;
  void on_done(const Outcome& outcome) override;

  const Outcome& outcome() const { return outcome_; }
  int exit_code() const;  // 0 completed, 1 failed, 2 failed before any trial ran, 130 interrupted

  json summary() const;              // --json
  std::string summary_text() const;  // for humans; ends with a line end

 private:
  RunFacts facts_;
  ResultsFile results_;
  Progress& progress_;
  BestTrial best_;
  Tally tally_;
  Outcome outcome_;
  double seconds_ = 0;
  int warnings_ = 0;
};

}  // namespace attune
