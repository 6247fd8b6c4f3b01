#pragma once
// Handles the assessor queue: puts each trial's intermediate results in order and lets the assessor
// judge them. One owner thread, as the tune worker. Works without an assessor too: then it only
// passes barriers.
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "assessors/assessor.h"
#include "dispatcher/messages.h"

namespace attune {

class AssessWorker {
 public:
  AssessWorker(std::unique_ptr<Assessor> assessor, Log log)
      : assessor_(std::move(assessor)), log_(std::move(log)) {}

  WorkerMessages handle(AssessMessage message);

 private:
  struct History {
    std::vector<Report> reports;           // steps 0, 1, 2, ... without a gap
    std::map<std::int64_t, Report> later;  // beyond a gap
    bool stopped = false;                  // decided: more reports change nothing
  };

  WorkerMessages on(IntermediateResult& m);
  WorkerMessages on(TrialsEnded& m);
  WorkerMessages on(Barrier& m);

  std::unique_ptr<Assessor> assessor_;
  Log log_;
  std::unordered_map<TrialId, History> histories_;
  std::unordered_set<TrialId> ended_;
};

}  // namespace attune
