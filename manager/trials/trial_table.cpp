#include "manager/trials/trial_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune {

LiveTrial& TrialTable::add(LiveTrial trial) {
  auto owned = std::make_unique<LiveTrial>(std::move(trial));
  LiveTrial& added = *owned;
  if (!trials_.empty() && !(trials_.begin()->second->rules->resources == added.rules->resources))
    uniform_ = false;
  trials_[added.record.job_id] = std::move(owned);
  const TrialStatus status = added.record.status;
  order_of(status)[added.record.sequence] = &added;
  if (status == TrialStatus::running) pool_.commit(added.rules->resources);
  return added;
}

LiveTrial* TrialTable::find(const std::string& job_id) {
  const auto found = trials_.find(job_id);
  return found == trials_.end() ? nullptr : found->second.get();
}

std::unique_ptr<LiveTrial> TrialTable::remove(const std::string& job_id) {
  auto node = trials_.extract(job_id);
  LiveTrial& trial = *node.mapped();
  set_deadline(trial, 0);
  set_waits(trial, false);
  pending_.erase(trial.record.sequence);
  paused_.erase(trial.record.sequence);
  if (running_.erase(trial.record.sequence) > 0) pool_.release(trial.rules->resources);
  return std::move(node.mapped());
}

void TrialTable::set_status(LiveTrial& trial, TrialStatus status) {
  const TrialStatus before = trial.record.status;
  if (before == status) return;
  set_deadline(trial, 0);
  set_waits(trial, false);
  if (before == TrialStatus::running) pool_.release(trial.rules->resources);
  if (status == TrialStatus::running) pool_.commit(trial.rules->resources);
  order_of(before).erase(trial.record.sequence);
  trial.record.status = status;
  order_of(status)[trial.record.sequence] = &trial;
}

void TrialTable::set_deadline(LiveTrial& trial, double deadline) {
  deadlines_.erase({trial.deadline, trial.record.sequence});
  trial.deadline = deadline;
  if (deadline > 0) deadlines_[{deadline, trial.record.sequence}] = &trial;
}

void TrialTable::set_waits(LiveTrial& trial, bool waits) {
  if (trial.waits == waits) return;
  trial.waits = waits;
  waits ? ++waiting_ : --waiting_;
}

// While `pausing` is set, the backend still saves the trial's files, which an attempt would change.
bool TrialTable::may_start(const LiveTrial& trial) const {
  return trial.pausing.empty() && trial.deadline <= clock_.now() &&
         pool_.fits(trial.rules->resources);
}

std::optional<std::string> TrialTable::first_of(const Order& order) const {
  if (running_.size() >= static_cast<std::size_t>(concurrency_)) return std::nullopt;
  for (const auto& [sequence, trial] : order) {
    if (may_start(*trial)) return trial->record.job_id;
    if (uniform_ && !pool_.fits(trial->rules->resources)) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> TrialTable::first_pending() const { return first_of(pending_); }
std::optional<std::string> TrialTable::first_paused() const { return first_of(paused_); }

std::optional<double> TrialTable::next_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first.first;
}

std::vector<LiveTrial*> TrialTable::overdue(double now) const {
  std::vector<LiveTrial*> trials;
  for (const auto& [key, trial] : deadlines_) {
    if (key.first > now) break;
    trials.push_back(trial);
  }
  return trials;
}

std::string TrialTable::why_waits(const LiveTrial& trial) const {
  if (trial.deadline > clock_.now()) {
    return fmt::format("it could not be started and is tried again in {:.1f} s: {}",
                       trial.deadline - clock_.now(), trial.record.reason);
  }
  if (!pool_.possible(trial.rules->resources)) {
    return "it asks for more than there is (" +
           ResourcePool(pool_.capacity()).shortage(trial.rules->resources) + ")";
  }
  if (running_.size() >= static_cast<std::size_t>(concurrency_))
    return fmt::format("trialConcurrency: {} trials run", running_.size());
  const std::string shortage = pool_.shortage(trial.rules->resources);
  return shortage.empty() ? "it is next" : "resources: " + shortage;
}

TrialTable::Order& TrialTable::order_of(TrialStatus status) {
  if (status == TrialStatus::running) return running_;
  return status == TrialStatus::paused ? paused_ : pending_;
}

const TrialTable::Order& TrialTable::in(TrialStatus status) const {
  if (status == TrialStatus::running) return running_;
  return status == TrialStatus::paused ? paused_ : pending_;
}

}  // namespace attune
