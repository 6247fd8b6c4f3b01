#include "manager/decider/synced_decider.h"

#include <algorithm>
#include <utility>

namespace attune {

void SyncedDecider::settle() {
  if (ended_ || !ready_ || closing_ || !told_ || !pending_.empty()) return;
  told_ = false;
  pending_ = "settled " + std::to_string(++syncs_);
  decider_.sync(pending_);
}

Result<void> SyncedDecider::start(Decider::Listener& listener) {
  listener_ = &listener;
  return decider_.start(*this);
}

void SyncedDecider::next(int count) { tell().next(count); }

std::optional<std::string> SyncedDecider::choose(const Startable& startable) {
  return decider_.choose(startable);
}

void SyncedDecider::on_add(const std::string& job_id, const ProposedTrial& trial) {
  tell().on_add(job_id, trial);
}

Action SyncedDecider::on_result(const std::string& job_id, const std::string& metric_text) {
  return tell().on_result(job_id, metric_text);
}

Action SyncedDecider::on_final(const std::string& job_id, const std::string& metric_text,
                               const json& value) {
  return tell().on_final(job_id, metric_text, value);
}

void SyncedDecider::on_complete(const std::string& job_id, const json& result) {
  tell().on_complete(job_id, result);
}
void SyncedDecider::on_error(const std::string& job_id) { tell().on_error(job_id); }

void SyncedDecider::on_remove(const std::string& job_id, TrialEnd::Event event) {
  tell().on_remove(job_id, event);
}

void SyncedDecider::on_paused(const std::string& job_id, const std::string& checkpoint) {
  tell().on_paused(job_id, checkpoint);
}

void SyncedDecider::on_pause_failed(const std::string& job_id) { tell().on_pause_failed(job_id); }

void SyncedDecider::on_checkpoint(const std::string& job_id, const std::string& checkpoint) {
  tell().on_checkpoint(job_id, checkpoint);
}

void SyncedDecider::import(const std::vector<ImportData::Record>& records) {
  tell().import(records);
}

void SyncedDecider::readopt(const std::vector<Resumed>& trials) { tell().readopt(trials); }

void SyncedDecider::update_search_space(const json& search_space) {
  tell().update_search_space(search_space);
}

void SyncedDecider::close() {
  closing_ = true;
  decider_.close();
}

void SyncedDecider::kill() {
  ended_ = true;  // the decider makes no further call that would set it
  decider_.kill();
}

// ---- calls of the decider: most are held until hand_over()

void SyncedDecider::hand_over() {
  // Moved out first: the listener may tell the decider more, which may answer at once.
  std::vector<End> ends = std::exchange(ends_, {});
  const auto others = std::exchange(others_, {});
  std::ranges::stable_sort(ends, {}, &End::job_id);
  for (const End& end : ends) {
    switch (end.kind) {
      case End::Kind::stop:
        listener_->on_stop(end.job_id, end.reason);
        break;
      case End::Kind::used_up:
        listener_->on_used_up(end.job_id, end.reason);
        break;
      case End::Kind::pause:
        listener_->on_pause(end.job_id, end.reason);
        break;
    }
  }
  for (const auto& other : others) other();
}

void SyncedDecider::on_ready() {
  ready_ = true;
  listener_->on_ready();
}

void SyncedDecider::on_resumed() {
  ready_ = true;
  listener_->on_resumed();
}

void SyncedDecider::on_proposal(ProposedTrial proposal) {
  others_.push_back([this, proposal = std::move(proposal)] { listener_->on_proposal(proposal); });
}

void SyncedDecider::on_exhausted(const std::string& reason) {
  others_.push_back([this, reason] { listener_->on_exhausted(reason); });
}

void SyncedDecider::on_postponed(const std::string& reason) { listener_->on_postponed(reason); }
void SyncedDecider::on_warning(const std::string& text) { listener_->on_warning(text); }

void SyncedDecider::on_parameter(const std::string& job_id, std::int64_t index,
                                 std::optional<ProposedTrial> proposal) {
  others_.push_back([this, job_id, index, proposal = std::move(proposal)] {
    listener_->on_parameter(job_id, index, proposal);
  });
}

void SyncedDecider::on_stop(const std::string& job_id, const std::string& reason) {
  ends_.push_back({job_id, reason, End::Kind::stop});
}

void SyncedDecider::on_used_up(const std::string& job_id, const std::string& reason) {
  ends_.push_back({job_id, reason, End::Kind::used_up});
}

void SyncedDecider::on_pause(const std::string& job_id, const std::string& reason) {
  ends_.push_back({job_id, reason, End::Kind::pause});
}

void SyncedDecider::on_save(const std::string& job_id) {
  others_.push_back([this, job_id] { listener_->on_save(job_id); });
}

void SyncedDecider::on_drop(const std::string& checkpoint) {
  others_.push_back([this, checkpoint] { listener_->on_drop(checkpoint); });
}

void SyncedDecider::on_synced(const std::string& token) {
  if (token != pending_) {
    listener_->on_synced(token);
    return;
  }
  pending_.clear();
  hand_over();
}

void SyncedDecider::on_failure(Error error) {
  ended_ = true;
  hand_over();
  listener_->on_failure(std::move(error));
}

void SyncedDecider::on_closed() {
  ended_ = true;
  hand_over();
  listener_->on_closed();
}

}  // namespace attune
