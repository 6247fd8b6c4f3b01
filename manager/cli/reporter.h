#pragma once
// The observer of `attune run`, `resume` and `simulate`: shows progress, keeps the best trial, and
// makes the summary.
#include <optional>
#include <string>

#include "manager/cli/progress.h"
#include "manager/trials/best_trial.h"
#include "manager/trials/trial_observer.h"

namespace attune {

// Facts about the experiment for the summary.
struct RunFacts {
  std::string experiment_id;
  std::string directory;
  std::vector<Objective> objectives = {Objective{}};  // at least one
  std::uint64_t seed = 0;

  const Objective& objective() const { return objectives.front(); }
};

class Reporter final : public TrialObserver {
 public:
  Reporter(RunFacts facts, ProgressLine& progress);

  // A trial of an earlier session, which may be the best one.
  void offer(const TrialRecord& trial) { best_.offer(trial); }
  // `tally`: of earlier sessions. `seconds`: how long they took.
  void go_on_from(const Tally& tally, double seconds) {
    tally_ = tally;
    earlier_ = Earlier{tally, seconds};
    progress_.count_earlier(seconds);
    attempts_ = tally.added() > 0;
  }

  void on_tally(const Tally& tally) override;
  void on_attempt(const TrialRecord&) override { attempts_ = true; }
  void on_trial_changed(const TrialRecord& trial) override;
  void on_event(const RunnerEvent& event) override;
  void on_done(const ExperimentEnd& outcome) override;

  const ExperimentEnd& outcome() const { return outcome_; }
  int exit_code() const;  // 0 completed, 1 failed, 2 failed before any trial ran, 130 interrupted

  // Some keys of experiment_json() (commands/stored_json.h), for use if the store cannot be read;
  // and `session`: how this session went.
  json summary() const;
  std::string summary_text() const;  // for humans; ends with a line end

 private:
  json best_json(const TrialRecord& trial) const;
  Tally ended_now() const;  // the trials that ended in this session

  RunFacts facts_;
  ProgressLine& progress_;
  BestTrial best_;
  Tally tally_;
  struct Earlier {
    Tally tally;
    double seconds = 0;
  };
  std::optional<Earlier> earlier_;  // of earlier sessions; nothing: this is the first
  ExperimentEnd outcome_;
  double seconds_ = 0;
  bool attempts_ = false;  // a trial was started, in this session or before
  int warnings_ = 0;
};

}  // namespace attune
