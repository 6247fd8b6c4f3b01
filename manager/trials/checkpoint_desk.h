#pragma once
// Checkpoints on their way: those being saved, those for which there is no room yet, those that the
// decider waits for, and those that may be deleted. Which ones are kept is CheckpointKeeper's rule.
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
    double retry_seconds = 2;       // between two tries to save where there was no room
    double patience_seconds = 600;  // how long it is tried
  };
  // All but the options outlive it.
  CheckpointDesk(Options options, TrialBackend& backend, TrialStore& store, Announcer& announcer,
                 const Clock& clock)
      : options_(std::move(options)),
        keeper_(options_.rules),
        backend_(backend),
        store_(store),
        announcer_(announcer),
        clock_(clock) {}

  // Begins to save what the trial has in its checkpoint folder; the new checkpoint's id. The
  // backend answers with CheckpointStored.
  std::string save(LiveTrial& trial);
  std::string save_of_ended(const std::string& job_id);
  void decider_waits_for(const std::string& id) { to_answer_.insert(id); }

  // The backend's answer. `trial` is null when it has ended. `ending`: so does the experiment.
  struct Answer {
    bool settled = true;         // false: there was no room, and it will be tried again
    bool decider_waits = false;  // for this checkpoint
  };
  Answer stored(const CheckpointStored& saved, LiveTrial* trial, bool ending);

  bool busy() const { return !saving_.empty(); }
  bool only_waits_for_room() const { return saving_.size() == unsaved_.size(); }
  void retry(double now);                    // saves what found no room, once it is time
  std::optional<double> next_retry() const;  // in Clock::now() seconds

  // The trial's next start is from there; empty: from scratch. Nobody deletes it before.
  void start_from(LiveTrial& trial, std::string checkpoint);
  // The decider needs that checkpoint no more.
  void release(const std::string& id) { drop(keeper_.dropped(id)); }
  void ended(const std::string& job_id, LiveTrial& trial);  // not started again
  // Deletes what may go. Only once the store has it that they go: a later manager would miss them.
  void delete_dropped();

  const std::string& newest(const std::string& job_id) const { return keeper_.newest(job_id); }
  double bytes() const { return keeper_.bytes(); }

  // What an earlier manager has left. `reserve`: this id of the trial is not given out again.
  void restore(const std::string& job_id, const std::string& id, double bytes, bool ended) {
    keeper_.restore(job_id, id, bytes, ended);
  }
  void reserve(const std::string& job_id, const std::string& id) { keeper_.reserve(job_id, id); }
  // An earlier manager was saving these when it ended, so nobody knows whether they are whole.
  // Deletes them; the trials whose they are.
  std::vector<std::string> discard_unfinished(const std::vector<std::string>& ids);

  void forget_answers() { to_answer_.clear(); }  // the decider has lost its memory
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

  // Of trials that have ended: their checkpoints under way, as LiveTrial::saving.
  std::map<std::string, std::map<std::string, std::int64_t>> ended_saving_;
  std::set<std::string> saving_;                // checkpoints under way
  std::set<std::string> to_answer_;             // of them, those that the decider waits for
  std::map<std::string, std::string> unsaved_;  // of saving_: those without room, and their trials
  double retry_at_ = 0;                         // with unsaved_
  std::vector<std::string> dropped_;            // to delete once that is stored
};

// The trial whose checkpoint this is: "t0007" of "t0007-2".
std::string trial_of_checkpoint(const std::string& id);

}  // namespace attune
