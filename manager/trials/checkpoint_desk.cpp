#include "manager/trials/checkpoint_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace attune {
namespace {

// Removes `id` and returns what was known of it.
LiveTrial::Saving take(std::map<std::string, LiveTrial::Saving>& saving, const std::string& id) {
  const auto node = saving.extract(id);
  return node ? node.mapped() : LiveTrial::Saving{};
}

}  // namespace

std::string trial_of_checkpoint(const std::string& id) { return id.substr(0, id.rfind('-')); }

std::string CheckpointDesk::save(LiveTrial& trial) {
  std::string id = keeper_.next_id(trial.record.job_id);
  trial.saving[id] = {trial.steps.done(), trial.record.attempts};
  saving_.insert(id);
  backend_.save_checkpoint(trial.record.job_id, id);
  return id;
}

std::string CheckpointDesk::save_of_ended(const std::string& job_id) {
  std::string id = keeper_.next_id(job_id);
  saving_.insert(id);
  ended_saving_[job_id].try_emplace(id);
  backend_.save_checkpoint(job_id, id);
  return id;
}

// Whether the save found no room and is tried again later. That is done only for a trial that does
// not run: its files stay as they are, and its next attempt starts from them. A later manager saves
// them if this one ends first. A running trial changes its files, and will save again anyway.
bool CheckpointDesk::put_off(const CheckpointStored& saved, LiveTrial& trial, bool ending) {
  const bool rests =
      trial.record.status != TrialStatus::running && (trial.pausing == saved.checkpoint || ending);
  if (!saved.no_room || !rests) {
    trial.unsaved_since.reset();
    return false;
  }
  const double now = clock_.now();
  if (!trial.unsaved_since) {
    trial.unsaved_since = now;
    announcer_.warn(fmt::format("what trial {} has saved is tried again every {:g} s: {}",
                                saved.job_id, options_.retry_seconds, saved.error),
                    saved.job_id);
  }
  if (now >= *trial.unsaved_since + options_.patience_seconds) return false;
  unsaved_[saved.checkpoint] = saved.job_id;
  retry_at_ = now + options_.retry_seconds;
  return true;
}

void CheckpointDesk::retry(double now) {
  if (now < retry_at_) return;
  for (const auto& [id, job_id] : std::exchange(unsaved_, {})) backend_.save_checkpoint(job_id, id);
}

std::optional<double> CheckpointDesk::next_retry() const {
  if (unsaved_.empty()) return std::nullopt;
  return retry_at_;
}

CheckpointDesk::Answer CheckpointDesk::stored(const CheckpointStored& saved, LiveTrial* trial,
                                              bool ending) {
  if (trial != nullptr && put_off(saved, *trial, ending)) return {.settled = false};
  saving_.erase(saved.checkpoint);
  CheckpointStored known = saved;
  LiveTrial::Saving began;
  const auto ended = ended_saving_.find(saved.job_id);
  if (trial != nullptr) {
    began = take(trial->saving, saved.checkpoint);
  } else if (ended != ended_saving_.end()) {
    began = take(ended->second, saved.checkpoint);
  }
  known.reports = began.steps;
  store_.add_checkpoint(known);
  if (saved.error.empty()) {
    if (trial != nullptr) {
      trial->record.checkpoint = saved.checkpoint;
      trial->steps_saved = known.reports;
      // What a pending trial starts from is chosen, unless it waits for this checkpoint.
      const bool chosen =
          trial->record.status == TrialStatus::pending && trial->pausing != saved.checkpoint;
      if (!chosen && began.attempts == trial->record.attempts) start_from(*trial, "");
    }
    drop(keeper_.saved(saved.job_id, saved.checkpoint, saved.bytes));
  }
  if (ended != ended_saving_.end() && ended->second.empty()) {
    ended_saving_.erase(ended);
    let_go(saved.job_id);
  }
  return {.decider_waits = to_answer_.erase(saved.checkpoint) > 0};
}

bool CheckpointDesk::decider_waits(const LiveTrial& trial) const {
  return std::ranges::any_of(trial.saving,
                             [&](const auto& saved) { return to_answer_.contains(saved.first); });
}

void CheckpointDesk::start_from(LiveTrial& trial, std::string checkpoint) {
  const std::string before = std::exchange(trial.start_from, std::move(checkpoint));
  keeper_.pin(trial.start_from);
  drop(keeper_.unpin(before));
}

void CheckpointDesk::ended(const std::string& job_id, LiveTrial& trial) {
  if (trial.saving.empty()) return let_go(job_id);
  ended_saving_[job_id] = std::move(trial.saving);
}

void CheckpointDesk::let_go(const std::string& job_id) {
  drop(keeper_.ended(job_id));
  backend_.release(job_id);
}

void CheckpointDesk::drop(const CheckpointKeeper::Ids& checkpoints) {
  for (const std::string& id : checkpoints) {
    dropped_.push_back(id);
    store_.drop_checkpoint(id);
  }
}

void CheckpointDesk::delete_dropped() {
  for (const std::string& id : std::exchange(dropped_, {})) backend_.delete_checkpoint(id);
}

void CheckpointDesk::delete_again(const RunnerState& state) {
  for (const std::string& id : state.deleting) backend_.delete_checkpoint(id);
  for (const std::string& job_id : state.releasing) backend_.release(job_id);
}

std::vector<std::string> CheckpointDesk::discard_unfinished(const std::vector<std::string>& ids) {
  std::vector<std::string> jobs;
  for (const std::string& id : ids) {
    const std::string job_id = trial_of_checkpoint(id);
    keeper_.reserve(job_id, id);
    backend_.delete_checkpoint(id);
    if (std::ranges::find(jobs, job_id) == jobs.end()) jobs.push_back(job_id);
  }
  return jobs;
}

void CheckpointDesk::forget_answers() {
  to_answer_.clear();
  drop(keeper_.release_all());
}

void CheckpointDesk::save_state(RunnerState& state) const {
  state.held = keeper_.held();
  state.saving.assign(saving_.begin(), saving_.end());
  state.answers.assign(to_answer_.begin(), to_answer_.end());
  auto deletions = backend_.unfinished_deletions();
  state.deleting = std::move(deletions.checkpoints);
  state.deleting.insert(state.deleting.end(), dropped_.begin(), dropped_.end());
  state.releasing = std::move(deletions.trials);
}

}  // namespace attune
