#pragma once
// Handles the tuner's queue (NNI calls it the default queue). One owner thread; no queue and no
// clock in here: the answers are a function of the messages handled so far, also across a save and
// load.
#include <map>

#include "dispatcher/messages.h"

namespace attune {

class TuneWorker {
 public:
  // `constraints` hold in every search space: one that they do not fit is refused.
  TuneWorker(Session session, Log log, std::vector<std::string> constraints = {})
      : session_(std::move(session)), log_(std::move(log)), constraints_(std::move(constraints)) {}

  // The answers, in the order in which the manager must see them.
  WorkerMessages handle(TuneMessage message);

  // Restores the state of a TunerState message: from then on the answers are exactly those of the
  // saved worker. Must be called before any message is handled. After an error the worker cannot be
  // used any further.
  Result<void> load(const json& state);
  // The manager has started anew: as Session::restart. Unanswered asks of running jobs are
  // forgotten: the jobs ask again.
  void restart(bool manager_pauses);

  // The messages up to end_replay() are handled for the second time: the first time the tuner made
  // these notes, all of them at one message. Without any, it made none.
  void replay_notes(const std::string& notes) { session_.replay_notes(notes); }
  void end_replay() { session_.end_replay(); }

 private:
  WorkerMessages on(SetSpace& m);
  WorkerMessages on(AskTrials& m);
  WorkerMessages on(AskForJob& m);
  WorkerMessages on(FinalResult& m);
  WorkerMessages on(StoppedEarly& m);
  WorkerMessages on(IntermediateResult& m);
  WorkerMessages on(TrialsEnded& m);
  WorkerMessages on(TrialsPaused& m);
  WorkerMessages on(CheckpointAnswered& m);
  WorkerMessages on(ImportResults& m);
  WorkerMessages on(AdoptTrial& m);
  WorkerMessages on(ReviveTrial& m);
  WorkerMessages on(Refuse& m);
  WorkerMessages on(SaveState& m);
  WorkerMessages on(Barrier& m);
  Result<Space> make_space(const json& search_space) const;
  WorkerMessages address(Replies replies);
  WorkerMessages address(Effects effects);

  Session session_;
  Log log_;
  std::vector<std::string> constraints_;
  json earlier_;                          // as the manager wrote it; null: there is nothing
  json search_space_;                     // as the manager wrote it; null before the first
  std::map<TrialId, AskForJob> for_job_;  // asks of running jobs that are not answered yet
  bool skipped_ = false;                  // skip_ahead() was called for this manager
};

}  // namespace attune
