#pragma once
// Handles the default queue: everything that concerns the tuner. One owner thread; no queue, no
// clock: what it answers is a function of the messages handled so far, across a save and load.
#include <map>

#include "dispatcher/messages.h"

namespace attune {

class TuneWorker {
 public:
  TuneWorker(Session session, Log log) : session_(std::move(session)), log_(std::move(log)) {}

  // The answers, in the order in which the manager must see them.
  WorkerMessages handle(TuneMessage message);

  // Goes on from what a TunerState message carried. Before any other message; on an error the
  // worker cannot be used any further.
  Result<void> load(const json& state);
  void skip_ahead() { session_.skip_ahead(); }  // after load: as Session::skip_ahead

 private:
  WorkerMessages on(SetSpace& m);
  WorkerMessages on(AskTrials& m);
  WorkerMessages on(AskForJob& m);
  WorkerMessages on(FinalResult& m);
  WorkerMessages on(IntermediateResult& m);
  WorkerMessages on(TrialsEnded& m);
  WorkerMessages on(ImportResults& m);
  WorkerMessages on(AdoptTrial& m);
  WorkerMessages on(ReviveTrial& m);
  WorkerMessages on(SaveState& m);
  WorkerMessages on(Barrier& m);
  WorkerMessages address(Replies replies);

  Session session_;
  Log log_;
  json search_space_;                     // as the manager wrote it; null before the first
  std::map<TrialId, AskForJob> for_job_;  // asks of running jobs that are not answered yet
};

}  // namespace attune
