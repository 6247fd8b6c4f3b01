#pragma once
// Handles the assessor's queue: puts each trial's intermediate results in order, and lets the
// assessor judge them. The io thread sends nothing of a trial after its end. One owner thread, as
// for TuneWorker. Without an assessor it only answers Barrier and SaveState.
#include <map>
#include <memory>

#include "assessors/assessor.h"
#include "dispatcher/messages.h"
#include "dispatcher/stopped_trials.h"

namespace attune {

class AssessWorker {
 public:
  // `stopped`: what the tuner is to assume of trials that the assessor stops.
  AssessWorker(std::unique_ptr<Assessor> assessor, Log log, std::string metric = "default",
               StoppedRule stopped = {})
      : assessor_(std::move(assessor)),
        log_(std::move(log)),
        metric_(std::move(metric)),
        stopped_(std::move(stopped)) {}

  WorkerMessages handle(AssessMessage message);

  // Restores the state of an AssessorState message, exactly. Null: there is nothing to restore.
  // Must be called before any message is handled. After an error the worker cannot be used any
  // further.
  Result<void> load(const json& state);

  // The manager has started anew. If the next report of a former trial has step 0, the trial runs
  // anew, and the assessor is told that it failed before. With a later step the trial has continued
  // with its history; an earlier decision to stop it no longer counts.
  void restart();

  // As TuneWorker's.
  void replay_notes(const std::string& notes);
  void end_replay();

 private:
  struct History {
    std::vector<Report> reports;           // steps 0, 1, 2, ... without a gap
    std::map<std::int64_t, Report> later;  // beyond a gap
    bool stopped = false;                  // the assessor stopped it: later reports are ignored
  };

  using Histories = std::map<TrialId, History>;  // ordered, for the state

  WorkerMessages on(IntermediateResult& m);
  History& history_of(TrialId trial, std::int64_t step);
  WorkerMessages on(TrialsEnded& m);
  WorkerMessages on(SaveState& m);
  WorkerMessages on(Barrier& m);

  std::unique_ptr<Assessor> assessor_;
  Log log_;
  std::string metric_;  // that of the first objective
  StoppedRule stopped_;
  std::size_t longest_ = 0;  // reports of the trial with most of them
  Histories histories_;      // of trials that have not ended
  Histories former_;         // of trials from before a restart that have not reported since
};

}  // namespace attune
