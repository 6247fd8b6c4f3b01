#pragma once
// Handles the default queue: everything that concerns the tuner. One owner thread; no queue, no
// clock: what it answers is a function of the messages handled so far, across a save and load.
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

  // Exactly: goes on from what a TunerState message carried. Before any other message; on an error
  // the worker cannot be used any further.
  Result<void> load(const json& state);
  // The manager has started anew: as Session::restart, and running jobs ask again.
  void restart(bool manager_pauses);

 private:
  WorkerMessages on(SetSpace& m);
  WorkerMessages on(AskTrials& m);
  WorkerMessages on(AskForJob& m);
  WorkerMessages on(FinalResult& m);
  WorkerMessages on(IntermediateResult& m);
  WorkerMessages on(TrialsEnded& m);
  WorkerMessages on(TrialsPaused& m);
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
  json search_space_;                     // as the manager wrote it; null before the first
  std::map<TrialId, AskForJob> for_job_;  // asks of running jobs that are not answered yet
  bool skipped_ = false;                  // ahead, for trials of which the memory was lost
};

}  // namespace attune
