// Checkpoints: saved, kept, started from, dropped.
#include <fmt/format.h>

#include <utility>

#include "manager/trials/trial_runner.h"

namespace attune {
namespace {

std::int64_t take(std::map<std::string, std::int64_t>& saving, const std::string& id) {
  const auto node = saving.extract(id);
  return node ? node.mapped() : 0;
}

}  // namespace

std::string TrialRunner::save(LiveTrial& trial) {
  std::string id = keeper_.next_id(trial.record.job_id);
  trial.saving[id] = trial.steps.done();
  saving_.insert(id);
  backend_.save_checkpoint(trial.record.job_id, id);
  return id;
}

// What a trial has saved that does not run stays where it is, and with it the hope to go on from
// there, until there is room, or a later manager saves it.
bool TrialRunner::save_later(LiveTrial& trial, const CheckpointStored& saved) {
  const bool rests = trial.record.status != TrialStatus::running &&
                     (trial.pausing == saved.checkpoint || over_.has_value());
  if (!saved.no_room || !rests) {
    trial.unsaved_since.reset();
    return false;
  }
  const double now = clock_.now();
  if (!trial.unsaved_since) {
    trial.unsaved_since = now;
    warn(fmt::format("what trial {} has saved is tried again every {:g} s: {}", saved.job_id,
                     options_.start_retry_seconds, saved.error),
         saved.job_id);
  }
  if (now >= *trial.unsaved_since + options_.memory_patience_seconds) return false;
  unsaved_[saved.checkpoint] = saved.job_id;
  save_again_at_ = now + options_.start_retry_seconds;
  return true;
}

void TrialRunner::save_again(double now) {
  if (now < save_again_at_) return;
  for (const auto& [id, job_id] : std::exchange(unsaved_, {})) backend_.save_checkpoint(job_id, id);
}

void TrialRunner::handle(const CheckpointStored& saved) {
  LiveTrial* trial = table_.find(saved.job_id);
  if (trial != nullptr && save_later(*trial, saved)) return;
  saving_.erase(saved.checkpoint);
  const bool good = saved.error.empty();
  CheckpointStored known = saved;
  const auto ended = ended_saving_.find(saved.job_id);
  if (trial != nullptr) {
    known.reports = take(trial->saving, saved.checkpoint);
  } else if (ended != ended_saving_.end()) {
    known.reports = take(ended->second, saved.checkpoint);
  }
  store_.add_checkpoint(known);
  if (good) {
    if (trial != nullptr) {
      trial->record.checkpoint = saved.checkpoint;
      trial->steps_saved = known.reports;
    }
    drop(keeper_.saved(saved.job_id, saved.checkpoint, saved.bytes));
  } else {
    log_.info("trial={} checkpoint={}: {}", saved.job_id, saved.checkpoint, saved.error);
  }
  const std::string id = good ? saved.checkpoint : "";
  if (to_answer_.erase(saved.checkpoint) > 0 && !decider_lost_)
    decider_.on_checkpoint(saved.job_id, id);
  if (trial == nullptr) {
    if (ended == ended_saving_.end() || !ended->second.empty()) return;
    ended_saving_.erase(ended);
    drop(keeper_.ended(saved.job_id));
    backend_.release(saved.job_id);
    return;
  }
  tell_change(trial->record);
  if (trial->pausing != saved.checkpoint) return;
  trial->pausing.clear();
  if (trial->record.status == TrialStatus::pending)
    return plan_start(*trial, trial->record.checkpoint);
  if (!good) {
    warn(fmt::format("trial {} was paused and has saved no checkpoint ({}): it will start from "
                     "scratch; save into $ATTUNE_CHECKPOINT_DIR",
                     saved.job_id, saved.error),
         saved.job_id);
  }
  if (!decider_lost_) decider_.on_paused(saved.job_id, id);
}

// It goes on from what it has saved since the newest checkpoint, once that is one.
bool TrialRunner::save_and_resume(LiveTrial& trial, FailureClass failure) {
  TrialRecord& record = trial.record;
  const RetryRule& rule = trial.rules->retries[failure];
  const bool resumes = rule.how == RetryHow::resume || rule.how == RetryHow::resume_or_restart;
  if (!resumes || record.failures > rule.limit) return false;
  store_.add_decision({record.job_id, "resume", "runner",
                       fmt::format("failure {} (lost with what it has saved)", record.failures)});
  fail_pause(trial);
  trial.asked.reset();
  record.end_time = 0;
  set_status(trial, TrialStatus::pending, "what it has saved becomes a checkpoint");
  trial.pausing = save(trial);
  return true;
}

// What a start waits for stays until it has started.
void TrialRunner::plan_start(LiveTrial& trial, std::string checkpoint) {
  const std::string before = std::exchange(trial.start_from, std::move(checkpoint));
  keeper_.pin(trial.start_from);
  drop(keeper_.unpin(before));
}

// What is deleted before that is known might be missing to a later manager.
void TrialRunner::drop(const CheckpointKeeper::Ids& checkpoints) {
  for (const std::string& id : checkpoints) {
    drops_.push_back(id);
    store_.drop_checkpoint(id);
  }
}

}  // namespace attune
