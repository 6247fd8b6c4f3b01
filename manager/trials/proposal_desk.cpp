#include "manager/trials/proposal_desk.h"

#include <numeric>
#include <utility>

namespace attune {

void ProposalDesk::proposed() {
  if (!requests_.empty() && --requests_.front() == 0) requests_.pop_front();
}

void ProposalDesk::exhausted() {
  if (!requests_.empty()) requests_.pop_front();
  exhausted_ = true;
}

void ProposalDesk::declined() { exhausted_ = ++declined_ >= kMostDeclined; }

int ProposalDesk::unanswered() const {
  return std::accumulate(requests_.begin(), requests_.end(), 0);
}

bool ProposalDesk::postpone() { return !std::exchange(postponed_, true); }
bool ProposalDesk::proposes_again() { return std::exchange(postponed_, false); }

void ProposalDesk::wait(bool nothing_runs, double now) {
  const bool waits = nothing_runs && open() && !postponed_;
  if (!waits) waiting_since_.reset();
  if (waits && !waiting_since_) waiting_since_ = now;
}

std::optional<double> ProposalDesk::deadline() const {
  if (!waiting_since_) return std::nullopt;
  return *waiting_since_ + patience_seconds_;
}

void ProposalDesk::forget() {
  requests_.clear();
  exhausted_ = false;
  declined_ = 0;
}

void ProposalDesk::restore(const RunnerState& state) {
  requests_.assign(state.requests.begin(), state.requests.end());
  exhausted_ = state.exhausted;
  declined_ = state.declined;
}

void ProposalDesk::save(RunnerState& state) const {
  state.requests.assign(requests_.begin(), requests_.end());
  state.exhausted = exhausted_;
  state.declined = declined_;
}

}  // namespace attune
