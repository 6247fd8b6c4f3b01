#pragma once
// The table trial job id <-> TrialId, and the gate that every decision on a job passes. Owned by
// the io thread.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/trial.h"
#include "dispatcher/checkpoints.h"
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
  TrialId next_id() const { return next_id_; }
  // The next id is at least id + 1. Whether this one had never been given out.
  bool reserve_through(TrialId id);

  // From now on this parameter id means that trial: a paused one that goes on under it.
  void alias(TrialId parameter_id, TrialId trial) { aliases_[parameter_id] = trial; }
  TrialId trial_of(TrialId parameter_id) const;  // itself, if it is no alias

  // The trial that a metric of this job speaks of. Our own parameter ids are trial ids, or aliases
  // of them; any other (null, a text, a number never given out) stands for a trial of the
  // manager's, which gets one negative id a job. Binds the job to the trial.
  struct Bound {
    TrialId trial = 0;
    bool ended = false;    // the job has: nothing more may come of it
    bool revived = false;  // TrialEnd of another job had named this trial, and ended it by mistake
  };
  Bound bind_metric(const std::string& job, const ParameterId& parameter_id);

  bool knows(const std::string& job) const { return jobs_.contains(job); }
  bool has_ended(const std::string& job) const;
  // The trial that a parameter id of ours means.
  std::optional<TrialId> ours(const ParameterId& id) const;

  // The trials of a job that ended. A job that no metric has bound is taken to be the trial that
  // TrialEnd names, unless a metric has bound that trial to another job: NNI 3.0 can name the wrong
  // one. When a metric shows such a mistake later, the trial is revived, and the end goes to a
  // trial that a bound job's TrialEnd names beside its own. Nothing: the job had ended before.
  using Event = TrialEnd::Event;
  struct Ended {
    std::vector<TrialId> trials;
    bool paused = false;  // only the job: it was killed in place of a pause, its trials go on
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

  // The job that a decision on `trial` is to be carried out on, if it may be:
  //   stop        at most once a job
  //   pause       not while it is paused, being paused or killed
  //   checkpoint  nor while one is being saved
  // and never on one that has ended. While the job is not known the decision waits: bind_metric's
  // caller asks released(). `by_kill`: the manager cannot pause, so the job is killed instead.
  std::optional<std::string> pass_gate(const Decision& decision, bool by_kill = false);

  // What waited for this trial's job, once, in order.
  std::vector<Decision> released(TrialId trial);

  // The manager has paused the job: its trials. Nothing: it has ended.
  std::optional<std::vector<TrialId>> paused(const std::string& job,
                                             const ParameterId& parameter_id);
  // The job runs on: its trials, if it was being paused.
  std::vector<TrialId> pause_failed(const std::string& job);

  // How a trial that is paused can go on; its job, if there is one, counts as running then.
  struct Resume {
    bool possible = false;  // else it has ended, or is about to
    std::string job;        // empty: a new one
  };
  Resume resume(TrialId trial);
  // Whether the trial is paused without having a job. It no longer counts as paused then.
  bool give_up(TrialId trial);

  // The answer to a checkpoint decision has come: the trial that it is of.
  std::optional<TrialId> saved(const std::string& job);
  // Whether one is on its way, or a job runs that can be asked for one.
  enum class Saving { no, possible, under_way };
  Saving saving(TrialId trial) const;

  Checkpoints& checkpoints() { return checkpoints_; }

  // After a restart: this job goes on, under this parameter id. Returns the trial that it ran.
  TrialId adopt(const std::string& job, TrialId parameter_id, bool paused);

  // Exactly: what is loaded goes on as what was saved would have. On an error nothing changes.
  json save() const;
  Result<void> load(const json& state);

  // The manager has started anew. No trial is bound to a job that ran: it may run again under
  // another one, or report under the same. Forgotten is what waited for a job, or was on its way to
  // one: decisions, pauses, checkpoints, and the offers that start from these.
  void restart();

 private:
  enum class Pause { none, asked, asked_by_kill, paused };
  struct Job {
    std::vector<TrialId> trials;
    std::optional<TrialId> foreign;
    bool ended = false;
    bool killed = false;
    bool imported = false;
    bool saving = false;  // a checkpoint
    Pause pause = Pause::none;
    std::optional<Event> guess;  // how it ended, on the word of TrialEnd alone; it has one trial
  };
  using Entry = std::pair<const std::string, Job>;  // its address is stable

  Entry& entry_of(const std::string& job);  // a new one, if there is none
  Entry* job_of(TrialId trial) const;
  void bind(Entry& job, TrialId trial);
  Result<void> load_job(Entry& entry, double flags);
  Result<void> load_trials(const json& state);
  Result<void> load_waiting(const json& state);

  TrialId next_id_ = 0;
  TrialId next_foreign_ = kImportedTrial - 1;
  std::unordered_map<std::string, Job> jobs_;
  std::vector<Entry*> in_order_;                      // as they were heard of, for save()
  std::unordered_map<TrialId, Entry*> job_of_;        // ended ones too: late decisions are dropped
  std::map<TrialId, TrialId> aliases_;                // of parameter ids; ordered for save()
  std::map<TrialId, std::vector<Decision>> waiting_;  // for the trial's job; ordered for save()
  Checkpoints checkpoints_;
  std::vector<Event> misnamed_;  // ends that were told of the wrong trial, and are still owed
};

}  // namespace attune
