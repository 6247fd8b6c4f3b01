// Saves and loads what lets paused trials continue.
#include <algorithm>
#include <array>
#include <utility>

#include "base/saved_numbers.h"
#include "dispatcher/session.h"
#include "space/saved_point.h"

namespace attune {

json Session::save_held() const {
  json state = json::array();
  for (const auto& [trial, proposal, ask] : held_) {
    json one = {{"trial", trial}, {"point", save_point(proposal.point)}};
    if (proposal.budget) one["budget"] = save_numbers(std::array{*proposal.budget});
    if (proposal.checkpoint_from) one["checkpoint_from"] = *proposal.checkpoint_from;
    if (!proposal.reason.empty()) one["reason"] = proposal.reason;
    if (ask) one["ask"] = save_asks(std::span(&*ask, 1));
    state.push_back(std::move(one));
  }
  return state;
}

Result<void> Session::load_held(const json& state) {
  for (const json& one : state) {
    Held held{TRY(integer_at(one, "trial")), Proposal{}, std::nullopt};
    const auto trial = trials_.find(held.trial);
    const bool waits = trial != trials_.end() && trial->second.state != State::running;
    if (!waits || std::ranges::find(held_, held.trial, &Held::trial) != held_.end()) {
      return fail("saved state: a trial that goes on was not paused");
    }
    held.proposal.point = TRY(load_point(*space_, TRY(value_at(one, "point"))));
    if (one.contains("budget")) {
      const auto budget = TRY(numbers_at(one, "budget"));
      if (budget.size() != 1) return fail("saved state: one budget a trial expected");
      held.proposal.budget = budget[0];
    }
    if (one.contains("checkpoint_from")) {
      held.proposal.checkpoint_from = TRY(integer_at(one, "checkpoint_from"));
    }
    if (one.contains("reason")) held.proposal.reason = TRY(text_at(one, "reason"));
    if (one.contains("ask")) {
      const auto asks = TRY(load_asks(TRY(value_at(one, "ask"))));
      if (asks.size() != 1) return fail("saved state: one ask expected");
      held.ask = asks[0];
    }
    held_.push_back(std::move(held));
  }
  return {};
}

// The trials in the order of their turns.
json Session::save_set_aside() const {
  std::vector<double> ids;
  for (const auto& [turn, id] : set_aside_) ids.push_back(static_cast<double>(id));
  return save_numbers(ids);
}

// An earlier attuned let all trials that the tuner had not paused continue with the next request.
Result<void> Session::load_set_aside(const json& state) {
  if (!state.contains("set_aside")) return {};
  for (const double id : TRY(numbers_at(state, "set_aside"))) {
    const auto trial = is_whole(id) ? trials_.find(static_cast<TrialId>(id)) : trials_.end();
    const bool possible = trial != trials_.end() && trial->second.state == State::paused &&
                          trial->second.point && trial->second.turn == 0 &&
                          std::ranges::find(held_, trial->first, &Held::trial) == held_.end();
    if (!possible) return fail("saved state: a trial that was set aside is not paused");
    set_aside(trial->first, trial->second);
  }
  return {};
}

}  // namespace attune
