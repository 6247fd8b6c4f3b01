#pragma once
// Two things about the manager's trial jobs: which trial each job runs, and whether a decision
// (stop, pause, checkpoint) on a job may be sent to the manager. The io thread owns it.
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

// Managers may hold ids as doubles, which are exact up to 2^53. Half of that leaves room to count
// on from an id that a manager brought.
inline constexpr TrialId kLargestId = TrialId{1} << 52;

class Jobs {
 public:
  Jobs() = default;
  Jobs(Jobs&&) = default;
  Jobs& operator=(Jobs&&) = default;

  // Takes `count` new ids for proposals or recovered trials, and returns the first.
  TrialId take_ids(std::int64_t count);
  TrialId next_id() const { return next_id_; }
  // Takes every id up to this one. Returns whether this one was still free.
  bool reserve_through(TrialId id);

  // From now on `parameter_id` means `trial`: a paused trial goes on under a new parameter id.
  void alias(TrialId parameter_id, TrialId trial) { aliases_[parameter_id] = trial; }
  TrialId trial_of(TrialId parameter_id) const;  // the id itself unless it is an alias

  // Binds the job to the trial of a metric, and returns the trial. A parameter id that we gave out
  // is a trial id, or an alias of one. Any other (null, a text, a number never given out) stands
  // for a trial of the manager's own, for which each job gets one negative id.
  struct Bound {
    TrialId trial = 0;
    bool ended = false;    // the job has ended: the metric is too late
    bool revived = false;  // another job's TrialEnd named this trial by mistake; it runs again
  };
  Bound bind_metric(const std::string& job, const ParameterId& parameter_id);

  bool knows(const std::string& job) const { return jobs_.contains(job); }
  bool has_ended(const std::string& job) const;
  // The trial that a parameter id of ours means.
  std::optional<TrialId> ours(const ParameterId& id) const;

  // The job ended: its trials. Nothing if it had ended before.
  //
  // NNI 3.0 can name the wrong trial in TrialEnd. So a trial that a metric bound to another job
  // keeps that job, whatever TrialEnd says; a job without any metric is taken at TrialEnd's word.
  // When a later metric proves that word wrong, its trial is revived. The end is then owed to some
  // other trial: to the first one that a bound job's TrialEnd names beside its own (`misnamed`).
  using Event = TrialEnd::Event;
  struct Ended {
    std::vector<TrialId> trials;
    bool paused = false;   // the job was killed in place of a pause: its trials are not over
    bool unheard = false;  // only this end has named the trial: the job has reported nothing
    std::optional<std::pair<TrialId, Event>> misnamed;  // this trial ends too, in this way
  };
  std::optional<Ended> end(const std::string& job, const ParameterId& parameter_id, Event event);

  // A result of this job is imported. The job counts as ended from now on.
  struct Import {
    bool known = false;            // it was imported before
    std::optional<TrialId> trial;  // that the job ran, if the trial was ours
  };
  Import import(const std::string& job);

  // The job on which to carry out the decision; nothing if it must not be, or not yet:
  //   stop        at most once for each job
  //   pause       not while the job is paused, being paused or killed
  //   checkpoint  as a pause, and not while a checkpoint is being saved
  // No decision reaches a job that has ended. A decision on a trial whose job is still unknown
  // waits: ask released() after bind_metric(). `by_kill`: the manager cannot pause, so the job is
  // killed instead.
  std::optional<std::string> pass_gate(const Decision& decision, bool by_kill = false);

  // Whether pass_gate() has taken a stop of the trial, which was sent or waits for the job. Then no
  // later decision to stop the trial counts.
  bool stop_decided(TrialId trial) const;

  // Takes out the decisions that waited for this trial's job, in order.
  std::vector<Decision> released(TrialId trial);

  // The manager was asked to pause the job, and has not answered.
  bool pause_asked(const std::string& job) const;
  // The manager paused the job: its trials. Nothing if it has ended.
  std::optional<std::vector<TrialId>> paused(const std::string& job,
                                             const ParameterId& parameter_id);
  // The manager could not pause the job, which runs on: its trials, if it was being paused.
  std::vector<TrialId> pause_failed(const std::string& job);

  // A paused trial is to go on: whether it can, and in which job. That job counts as running again.
  struct Resume {
    bool possible = false;  // false: the trial has ended, or is about to
    std::string job;        // empty: it needs a new job
  };
  Resume resume(TrialId trial);
  // Returns whether the trial is paused and has no job. Such a trial no longer counts as paused.
  bool give_up(TrialId trial);

  // The manager answered a checkpoint decision on this job: the trial.
  std::optional<TrialId> saved(const std::string& job);
  // `under_way`: a checkpoint of the trial is being saved; of one that is being stopped only if
  // `of_stopped`. `possible`: its job runs, and can be asked for one.
  enum class Saving { no, possible, under_way };
  Saving saving(TrialId trial, bool of_stopped) const;

  Checkpoints& checkpoints() { return checkpoints_; }

  // After a restart the job goes on under this parameter id. Returns the trial that it ran.
  TrialId adopt(const std::string& job, TrialId parameter_id, bool paused);

  // A loaded table behaves exactly as the saved one would have. On an error nothing changes.
  json save() const;
  Result<void> load(const json& state);

  // The manager started anew. Unbinds the trials of jobs that had not ended: such a trial may run
  // again in another job, or report from the same one. Forgets what waited for a job or was on its
  // way to one: decisions, pauses, checkpoints, and the offers that start from them. A paused job
  // stays paused.
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
    std::optional<Event> guess;  // the end of its one trial, if only TrialEnd named that trial
  };
  using Entry = std::pair<const std::string, Job>;  // unordered_map keeps its address

  Entry& entry_of(const std::string& job);  // a new one, if there is none
  Entry* job_of(TrialId trial) const;
  void bind(Entry& job, TrialId trial);
  Result<void> load_job(Entry& entry, double flags);
  Result<void> load_trials(const json& state);
  Result<void> load_waiting(const json& state);

  TrialId next_id_ = 0;
  TrialId next_foreign_ = kImportedTrial - 1;
  std::unordered_map<std::string, Job> jobs_;
  std::vector<Entry*> in_order_;                      // by first mention, for save()
  std::unordered_map<TrialId, Entry*> job_of_;        // ended jobs too, to drop late decisions
  std::map<TrialId, TrialId> aliases_;                // parameter id -> trial; ordered for save()
  std::map<TrialId, std::vector<Decision>> waiting_;  // for a job; ordered for save()
  Checkpoints checkpoints_;
  std::vector<Event> misnamed_;  // ends told of the wrong trial, and owed to another
};

}  // namespace attune
