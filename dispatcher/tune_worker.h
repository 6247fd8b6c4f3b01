#pragma once
// Handles the default queue: everything that concerns the tuner. One owner thread; no queue, no
// clock: what it answers is a function of the messages handled so far.
#include <map>

#include "dispatcher/messages.h"

namespace attune {

class TuneWorker {
 public:
  TuneWorker(Session session, Log log) : session_(std::move(session)), log_(std::move(log)) {}

  // The answers, in the order in which the manager must see them.
  WorkerMessages handle(TuneMessage message);

 private:
  WorkerMessages on(SetSpace& m);
  WorkerMessages on(AskTrials& m);
  WorkerMessages on(AskForJob& m);
  WorkerMessages on(FinalResult& m);
  WorkerMessages on(IntermediateResult& m);
  WorkerMessages on(TrialsEnded& m);
  WorkerMessages on(ImportResults& m);
  WorkerMessages on(AdoptTrial& m);
  WorkerMessages on(Barrier& m);
  WorkerMessages address(Replies replies);

  Session session_;
  Log log_;
  std::map<TrialId, AskForJob> for_job_;  // asks of running jobs that are not answered yet
};

}  // namespace attune
