#pragma once
// The table trial job id <-> TrialId, and the gate that every kill passes. Owned by the io thread.
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/trial.h"
#include "protocol/command.h"

namespace attune {

// Ids are JSON integers and doubles too: half of what those hold exactly leaves room to count on.
inline constexpr TrialId kLargestId = TrialId{1} << 52;

class Jobs {
 public:
  Jobs() = default;
  Jobs(Jobs&&) = default;
  Jobs& operator=(Jobs&&) = default;

  // The ids [first, first + count) now belong to proposals (or recovered trials) of ours.
  TrialId take_ids(std::int64_t count);
  void reserve_through(TrialId id);  // the next id is at least id + 1

  // The trial that a metric of this job speaks of. Our own parameter ids are trial ids; any other
  // (null, a text, a number never given out) stands for a trial of the manager's, which gets one
  // negative id a job. Binds the job to the trial.
  struct Bound {
    TrialId trial = 0;
    bool ended = false;    // the job has: nothing more may come of it
    bool revived = false;  // TrialEnd of another job had named this trial, and ended it by mistake
  };
  Bound bind_metric(const std::string& job, const ParameterId& parameter_id);

  bool has_ended(const std::string& job) const;

  // The trials of a job that ended. A job that no metric has bound is taken to be the trial that
  // TrialEnd names, unless a metric has bound that trial to another job: NNI 3.0 can name the wrong
  // one. When a metric shows such a mistake later, the trial is revived, and the end goes to a
  // trial that a bound job's TrialEnd names beside its own. Nothing: the job had ended before.
  using Event = TrialEnd::Event;
  struct Ended {
    std::vector<TrialId> trials;
    std::optional<std::pair<TrialId, Event>> misnamed;  // ends with it, as another job did
  };
  std::optional<Ended> end(const std::string& job, const ParameterId& parameter_id, Event event);

  // Whether an imported result of this job is new; the job counts as ended from now on. `trial`:
  // the one that the job ran, when it was ours.
  struct Import {
    bool known = false;  // imported before
    std::optional<TrialId> trial;
  };
  Import import(const std::string& job);

  // The job to kill for a decision on `trial`: at most once a job, never one that has ended.
  // While the job is not known the decision waits: bind_metric's caller asks released().
  std::optional<std::string> pass_gate(const Decision& decision);

  // A decision that waited for this trial's job, once.
  std::optional<Decision> released(TrialId trial);

  // After a load, no trial is bound to a job that ran when the state was saved: it may run again
  // under another one, or report under the same. On an error nothing changes.
  json save() const;
  Result<void> load(const json& state);

 private:
  struct Job {
    std::vector<TrialId> trials;
    std::optional<TrialId> foreign;
    bool ended = false;
    bool killed = false;
    bool imported = false;
    std::optional<Event> guess;  // how it ended, on the word of TrialEnd alone
  };
  using Entry = std::pair<const std::string, Job>;  // its address is stable

  Entry* job_of(TrialId trial) const;
  void bind(Entry& job, TrialId trial);
  bool is_ours(const ParameterId& id) const;

  TrialId next_id_ = 0;
  TrialId next_foreign_ = kImportedTrial - 1;
  std::unordered_map<std::string, Job> jobs_;
  std::unordered_map<TrialId, Entry*> job_of_;     // ended ones too: late decisions are dropped
  std::unordered_map<TrialId, Decision> waiting_;  // decisions on trials without a job
  std::vector<Event> misnamed_;  // ends that were told of the wrong trial, and are still owed
};

}  // namespace attune
