#pragma once
// The table trial job id <-> TrialId, and the gate that every kill passes. Owned by the io thread.
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/trial.h"
#include "protocol/command.h"

namespace attune {

class Jobs {
 public:
  // The ids [first, first + count) now belong to proposals (or recovered trials) of ours.
  TrialId take_ids(std::int64_t count);
  void reserve_through(TrialId id);  // the next id is at least id + 1

  // The trial that a metric of this job speaks of. Our own parameter ids are trial ids; any other
  // (null, a text, a number never given out) stands for a trial of the manager's, which gets one
  // negative id a job. Binds the job to the trial.
  TrialId bind_metric(const std::string& job, const ParameterId& parameter_id);

  // The trials of a job that ended. A job that no metric has bound is taken to be
  // the trial that TrialEnd names, unless a metric has bound that trial to another job: NNI 3.0 can
  // name the wrong one. Nothing: the job had ended before.
  std::optional<std::vector<TrialId>> end(const std::string& job, const ParameterId& parameter_id);

  // The job to kill for a decision on `trial`: at most once a job, never one that has ended.
  // While the job is not known the decision waits: bind_metric's caller asks released().
  std::optional<std::string> pass_gate(const Decision& decision);

  // A decision that waited for this trial's job, once.
  std::optional<Decision> released(TrialId trial);

 private:
  struct Job {
    std::vector<TrialId> trials;
    std::optional<TrialId> foreign;
    bool ended = false;
    bool killed = false;
  };

  void bind(const std::string& name, Job& job, TrialId trial);

  TrialId next_id_ = 0;
  TrialId next_foreign_ = kImportedTrial - 1;
  std::unordered_map<std::string, Job> jobs_;
  std::unordered_map<TrialId, std::string> job_of_;  // ended ones too: late decisions are dropped
  std::unordered_map<TrialId, Decision> waiting_;    // decisions on trials without a job
};

}  // namespace attune
