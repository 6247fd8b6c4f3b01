// Paused trials, and how they continue. The tuner decides both, and is told of neither: it takes
// such a trial for running until the trial ends. This file handles what the tuner did not expect:
// the assessor pauses a trial, the manager pauses one by itself or cannot pause one, or a trial
// ends first.
#include <algorithm>
#include <iterator>
#include <utility>

#include "dispatcher/metrics.h"
#include "dispatcher/session.h"

namespace attune {

void Session::set_state(Trial& trial, State state) {
  take_back(trial);
  if (trial.state == State::paused) --paused_;
  trial.state = state;
  if (trial.state == State::paused) ++paused_;
}

Effects Session::report(const Report& report) {
  const auto known = trials_.find(report.trial);
  if (known == trials_.end()) return {};
  Effects effects;
  // The manager was asked for this pause before it started anew, so it must be asked again.
  if (known->second.in_doubt && known->second.state == State::pausing) {
    effects.decisions.push_back({report.trial, Action::pause, "decided before the restart"});
  }
  live(report.trial);
  known->second.reported = report.metrics;
  for (Decision& decision : tuner_->on_report(report)) {
    if (decision.action == Action::pause) {
      const auto found = trials_.find(decision.trial);
      if (found == trials_.end() || found->second.told || found->second.state != State::running) {
        // It has ended, or is paused or being paused already. If the assessor has paused it, from
        // now on the tuner says when it continues.
        if (found != trials_.end()) take_back(found->second);
        continue;
      }
      set_state(found->second, State::pausing);
    }
    effects.decisions.push_back(std::move(decision));
  }
  effects.replies = answer_pending();
  return effects;
}

json Session::last_report(TrialId id) const {
  const auto found = trials_.find(id);
  const bool has = found != trials_.end() && !found->second.reported.empty();
  return has ? to_value(found->second.reported) : json();
}

Effects Session::paused(TrialId id, bool decided) {
  Effects effects;
  Trial* const trial = live(id);
  if (!trial || trial->state == State::paused) return effects;
  if (trial->told || !trial->point) {  // the tuner will never continue it
    effects.decisions.push_back(
        {id, Action::stop,
         trial->told ? "it has its final result" : "it does not fit the present search space"});
    return effects;
  }
  const bool by_tuner = trial->state == State::pausing;
  set_state(*trial, State::paused);
  const auto held = std::ranges::find(held_, id, &Held::trial);
  if (held == held_.end()) {
    // If the tuner does not know of the pause, it would not continue the trial.
    if (!by_tuner && decided) set_aside(id, *trial);
    if (!by_tuner && !decided) hold(id, *trial);
  } else if (held->ask) {
    effects.replies.emplace_back(offer(*held->ask, id, held->proposal));
    held_.erase(held);
  }
  append(effects.replies, answer_pending());
  return effects;
}

Replies Session::pause_failed(TrialId id) {
  Trial* const trial = live(id);
  if (!trial || trial->state != State::pausing) return {};
  log_.warning("trial {} could not be paused: it runs on", id);
  set_state(*trial, State::running);
  release_held(id);
  return answer_pending();
}

Proposal Session::unchanged(const Trial& trial) const {
  return {.point = *trial.point, .budget = trial.budget};
}

// Lets a paused trial continue with the next request.
void Session::hold(TrialId id, const Trial& trial) {
  held_.push_back({id, unchanged(trial), std::nullopt});
}

// Lets a paused trial continue when the tuner has nothing new, after those set aside before.
void Session::set_aside(TrialId id, Trial& trial) {
  trial.turn = set_aside_.empty() ? 1 : std::prev(set_aside_.end())->first + 1;
  set_aside_.emplace(trial.turn, id);
}

// Undoes that.
void Session::take_back(Trial& trial) { set_aside_.erase(std::exchange(trial.turn, 0)); }

// Answers the ask with the first trial that was set aside. A job that runs cannot become another
// one.
bool Session::resume_set_aside(const Ask& ask, Replies& replies) {
  if (set_aside_.empty() || ask.for_job) return false;
  const TrialId id = set_aside_.begin()->second;
  replies.emplace_back(offer(ask, id, unchanged(trials_.at(id))));
  return true;
}

void Session::declined() {
  for (const auto& [turn, id] : std::exchange(set_aside_, {})) {
    Trial& trial = trials_.at(id);
    trial.turn = 0;
    hold(id, trial);
  }
}

// The trial no longer waits to continue: the ask that it was to answer goes back to the tuner.
void Session::release_held(TrialId id) {
  std::erase_if(held_, [&](const Held& held) {
    if (held.trial != id) return false;
    if (held.ask) pending_.push_back(*held.ask);
    return true;
  });
}

bool Session::carry_out_resume(const Ask& ask, Proposal proposal, Replies& replies) {
  const TrialId id = *proposal.resume;
  const auto found = trials_.find(id);
  const bool held = std::ranges::find(held_, id, &Held::trial) != held_.end();
  if (found == trials_.end() || found->second.told || held) {
    log_.error("the tuner lets trial {} go on, which {}", id,
               held ? "is about to" : "is over, or never ran");
    return false;
  }
  Trial& trial = found->second;
  if (trial.state == State::running) {
    log_.info("trial {} goes on already: it was not paused", id);
    return false;
  }
  if (trial.point && !space_->feasible(proposal.point)) {
    log_.warning("trial {} keeps its configuration: the new one breaks a constraint", id);
    proposal.point = *trial.point;
  }
  // A job that runs cannot become another one: the paused trial waits for a request.
  if (ask.for_job) {
    take_back(trial);
    held_.push_back({id, std::move(proposal), std::nullopt});
    return false;
  }
  if (trial.state == State::pausing) {
    held_.push_back({id, std::move(proposal), ask});
  } else {
    replies.emplace_back(offer(ask, id, proposal));
  }
  return true;
}

// Gives the first asks to the paused trials that wait for a request. Returns the other asks.
std::vector<Session::Ask> Session::resume_held(std::vector<Ask> asks, Replies& replies) {
  auto ready = [this](const Held& held) {
    return !held.ask && trials_.at(held.trial).state == State::paused;
  };
  for (auto ask = asks.begin(); ask != asks.end();) {
    const auto held = std::ranges::find_if(held_, ready);
    if (held == held_.end()) break;
    if (ask->for_job) {
      ++ask;
      continue;
    }
    replies.emplace_back(offer(*ask, held->trial, held->proposal));
    held_.erase(held);
    ask = asks.erase(ask);
  }
  return asks;
}

// After a change of the space the tuner believes that all paused trials run. So each continues by
// itself with its moved point, or is stopped if it has none.
std::vector<Decision> Session::move_paused() {
  std::vector<Decision> decisions;
  for (auto& [id, trial] : trials_) {
    if (trial.told || trial.state == State::running) continue;
    const auto held = std::ranges::find(held_, id, &Held::trial);
    if (!trial.point) {
      decisions.push_back({id, Action::stop, "it does not fit the present search space"});
      release_held(id);
      take_back(trial);
    } else if (trial.turn > 0) {
      continue;  // it keeps its turn
    } else if (held == held_.end()) {
      hold(id, trial);
    } else {
      held->proposal = Proposal{.point = *trial.point, .budget = held->proposal.budget};
    }
  }
  return decisions;
}

}  // namespace attune
