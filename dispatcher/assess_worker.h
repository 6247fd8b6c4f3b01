#pragma once
// Handles the assessor queue: puts each trial's intermediate results in order and lets the assessor
// judge them. io sends nothing of a trial after its end. One owner thread, as the tune worker.
// Works without an assessor too: then it only passes barriers.
#include <map>
#include <memory>
#include <unordered_map>

#include "assessors/assessor.h"
#include "dispatcher/messages.h"

namespace attune {

class AssessWorker {
 public:
  AssessWorker(std::unique_ptr<Assessor> assessor, Log log)
      : assessor_(std::move(assessor)), log_(std::move(log)) {}

  WorkerMessages handle(AssessMessage message);

  // Goes on from what an AssessorState message carried. Trials that ran then are taken as failed:
  // whatever runs again reports from its first step. Null: nothing to go on from. Before any other
  // message; on an error the worker cannot be used any further.
  Result<void> load(const json& state);

 private:
  struct History {
    std::vector<Report> reports;           // steps 0, 1, 2, ... without a gap
    std::map<std::int64_t, Report> later;  // beyond a gap
    bool stopped = false;                  // decided: more reports change nothing
  };

  WorkerMessages on(IntermediateResult& m);
  WorkerMessages on(TrialsEnded& m);
  WorkerMessages on(SaveState& m);
  WorkerMessages on(Barrier& m);

  std::unique_ptr<Assessor> assessor_;
  Log log_;
  std::unordered_map<TrialId, History> histories_;  // of trials that have not ended
};

}  // namespace attune
