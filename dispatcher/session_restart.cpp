// For a manager that starts anew. What it sends before its first request tells which of the former
// trials have a result, and which run again. The others are offered again: nobody evaluates them,
// and a search of a finite space would lose their points.
#include <utility>

#include "dispatcher/session.h"

namespace attune {

void Session::restart(bool manager_pauses) {
  for (auto& [id, trial] : trials_) {
    trial.assumed.clear();  // a decision to stop it no longer counts
    trial.in_doubt = (trial.state != State::paused || manager_pauses) && !finished_.contains(id);
  }
  for (Held& held : held_) held.ask.reset();
  pending_.clear();
  announced_.clear();
  again_.clear();
  doubts_ = true;
}

// Acts at the first request after a restart. The trials that are offered again stay in doubt until
// something is heard of them, because their results may still be imported.
Replies Session::settle_doubts() {
  if (!std::exchange(doubts_, false)) return {};
  Replies replies = tell_finished(requests_);
  std::size_t failed = 0;
  for (auto at = trials_.begin(); at != trials_.end();) {
    const auto here = at++;
    auto& [id, trial] = *here;
    if (!trial.in_doubt) continue;
    if (!trial.told && trial.point && trial.state != State::paused) {
      again_.insert(id);
      continue;
    }
    if (!trial.told) {
      ++failed;
      append(replies,
             conclude(trial, Outcome{.trial = id, .end = End::failed, .budget = trial.budget}));
    }
    forget(here);
  }
  if (failed > 0) log_.warning("{} trials did not survive the restart: told as failed", failed);
  if (!again_.empty()) {
    log_.warning("{} trials did not survive the restart: they are offered again", again_.size());
  }
  return replies;
}

// Offers the trials of again_, the oldest first. Returns the asks that are left. If the tuner had
// decided to pause such a trial, it is still to be paused: report() sends that decision again.
std::vector<Session::Ask> Session::offer_again(std::vector<Ask> asks, Replies& replies) {
  if (again_.empty()) return asks;
  std::vector<Ask> left;
  for (const Ask& ask : asks) {
    if (again_.empty() || ask.for_job) {
      left.push_back(ask);
      continue;
    }
    const TrialId id = again_.extract(again_.begin()).value();
    const Trial& trial = trials_.at(id);
    replies.emplace_back(offer_of(
        ask, id,
        {.point = *trial.point, .budget = trial.budget, .checkpoint_from = trial.checkpoint_from}));
  }
  return left;
}

// After a change of the space: drops the trials of again_ that have no point in it. Nobody runs
// them, so no TrialEnd will end them.
void Session::drop_unfit() {
  for (const TrialId id : std::set(again_)) {
    const auto trial = trials_.find(id);
    if (trial->second.point) continue;
    --untold_;
    release_held(id);
    forget(trial);
  }
}

}  // namespace attune
