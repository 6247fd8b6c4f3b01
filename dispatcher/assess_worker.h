#pragma once
// Handles the assessor queue: puts each trial's intermediate results in order and lets the assessor
// judge them. io sends nothing of a trial after its end. One owner thread, as the tune worker.
// Works without an assessor too: then it only passes barriers.
#include <map>
#include <memory>

#include "assessors/assessor.h"
#include "dispatcher/messages.h"

namespace attune {

class AssessWorker {
 public:
  AssessWorker(std::unique_ptr<Assessor> assessor, Log log, std::string metric = "default")
      : assessor_(std::move(assessor)), log_(std::move(log)), metric_(std::move(metric)) {}

  WorkerMessages handle(AssessMessage message);

  // Exactly: goes on from what an AssessorState message carried. Null: nothing to go on from.
  // Before any other message; on an error the worker cannot be used any further.
  Result<void> load(const json& state);

  // The manager has started anew. A trial that ran and reports its first step again runs anew: the
  // assessor is told that it failed before. One that reports a later step has gone on, though it
  // may have been told to stop.
  void restart();

 private:
  struct History {
    std::vector<Report> reports;           // steps 0, 1, 2, ... without a gap
    std::map<std::int64_t, Report> later;  // beyond a gap
    bool stopped = false;                  // decided: more reports change nothing
  };

  using Histories = std::map<TrialId, History>;  // ordered, for the state

  WorkerMessages on(IntermediateResult& m);
  History& history_of(TrialId trial, std::int64_t step);
  WorkerMessages on(TrialsEnded& m);
  WorkerMessages on(SaveState& m);
  WorkerMessages on(Barrier& m);

  std::unique_ptr<Assessor> assessor_;
  Log log_;
  std::string metric_;   // that of the first objective
  Histories histories_;  // of trials that have not ended
  Histories former_;     // of those before a restart that nothing was heard of since
};

}  // namespace attune
