#pragma once
// Has the backend save and delete checkpoints, and knows which of them are being saved, wait for
// room on the disk, are awaited by the decider, or may be deleted. CheckpointKeeper decides which
// ones are kept.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/trial_backend.h"
#include "manager/trials/announcer.h"
#include "manager/trials/checkpoint_keeper.h"
#include "manager/trials/runner_state.h"
#include "manager/trials/trial_store.h"
#include "manager/trials/trial_table.h"
#include "os/clock.h"

namespace attune {

class CheckpointDesk {
 public:
  struct Options {
    CheckpointRules rules;
    double retry_seconds = 2;       // between two tries to save while the disk has no room
    double patience_seconds = 600;  // after so long the desk gives the save up
  };
  // The referenced objects outlive the desk.
  CheckpointDesk(Options options, TrialBackend& backend, TrialStore& store, Announcer& announcer,
                 const Clock& clock)
      : options_(options),
        keeper_(options_.rules),
        backend_(backend),
        store_(store),
        announcer_(announcer),
        clock_(clock) {}

  // Tells the backend to save the trial's checkpoint folder, and returns the id of the new
  // checkpoint. The backend answers with CheckpointStored.
  std::string save(LiveTrial& trial);
  std::string save_of_ended(const std::string& job_id);  // the same for a trial that has ended
  // The decider asked for the checkpoint `id`, which is being saved.
  void decider_waits_for(const std::string& id) { to_answer_.insert(id); }

  // Whether the decider waits for a checkpoint of the trial that is being saved.
  bool decider_waits(const LiveTrial& trial) const;

  // Handles the backend's answer: tells the store, and drops older checkpoints. `trial` is null
  // when it has ended. `ending`: the end of the experiment is decided.
  struct Answer {
    bool settled = true;         // false: there was no room, and retry() will try again
    bool decider_waits = false;  // the caller must tell the decider of this checkpoint
  };
  Answer stored(const CheckpointStored& saved, LiveTrial* trial, bool ending);

  bool busy() const { return !saving_.empty(); }
  bool only_waits_for_room() const { return saving_.size() == unsaved_.size(); }
  void retry(double now);  // from next_retry() on: tries the saves again that found no room
  std::optional<double> next_retry() const;  // in Clock::now() seconds

  // The trial's next attempt will start from this checkpoint; empty: from scratch. The checkpoint
  // is pinned until the next call for the same trial, or until that attempt has saved one: should
  // it be lost before, the one after it starts from here, too.
  void start_from(LiveTrial& trial, std::string checkpoint);
  // The decider is told of this checkpoint, for which it has asked. It stays until release().
  void hold(const std::string& id) { keeper_.hold(id); }
  // The decider does not need this checkpoint any more.
  void release(const std::string& id) { drop(keeper_.dropped(id)); }
  // The trial will not start again. When its last save is done, the backend releases its files.
  void ended(const std::string& job_id, LiveTrial& trial);
  // Deletes the files of dropped checkpoints. Call it only after a commit: a later manager that
  // reads a store without the drop would still start a trial from one of them.
  void delete_dropped();

  const std::string& newest(const std::string& job_id) const { return keeper_.newest(job_id); }
  double bytes() const { return keeper_.bytes(); }

  // Before the first event, with what an earlier manager left: see CheckpointKeeper.
  void restore(const std::string& job_id, const std::string& id, double bytes, bool ended) {
    keeper_.restore(job_id, id, bytes, ended);
  }
  void reserve(const std::string& job_id, const std::string& id) { keeper_.reserve(job_id, id); }
  // Deletes what the earlier manager may not have deleted before it ended.
  void delete_again(const RunnerState& state);
  // The earlier manager was saving these checkpoints when it ended, so that they may be incomplete.
  // Deletes them, and returns the job ids of their trials, each once.
  std::vector<std::string> discard_unfinished(const std::vector<std::string>& ids);

  void forget_answers();  // the decider lost its memory: it awaits none, and will name none
  void save_state(RunnerState& state) const;

 private:
  bool put_off(const CheckpointStored& saved, LiveTrial& trial, bool ending);
  void drop(const CheckpointKeeper::Ids& checkpoints);
  void let_go(const std::string& job_id);

  const Options options_;
  CheckpointKeeper keeper_;
  TrialBackend& backend_;
  TrialStore& store_;
  Announcer& announcer_;
  const Clock& clock_;

  // LiveTrial::saving of the trials that have ended, by job id.
  std::map<std::string, std::map<std::string, LiveTrial::Saving>> ended_saving_;
  std::set<std::string> saving_;                // checkpoints that are being saved
  std::set<std::string> to_answer_;             // those of saving_ that the decider waits for
  std::map<std::string, std::string> unsaved_;  // those of saving_ without room -> their job ids
  double retry_at_ = 0;                         // Clock::now(); when unsaved_ is tried again
  std::vector<std::string> dropped_;            // files to delete after the next commit
};

// The trial whose checkpoint this is: "t0007" of "t0007-2".
std::string trial_of_checkpoint(const std::string& id);

}  // namespace attune
