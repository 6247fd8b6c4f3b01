// The saved state of Bands.
#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "rungs/band.h"

namespace attune {

json Bands::save() const {
  json brackets = json::array();
  for (const auto& [number, bracket] : brackets_) {
    const std::vector<double> values = {static_cast<double>(bracket.halvings),
                                        bracket.n,
                                        bracket.step,
                                        bracket.milestone,
                                        bracket.open,
                                        bracket.done};
    json trials = json::array();
    std::vector<double> results;  // three numbers a trial
    for (const auto& [order, id] : bracket.live) {
      const Trial& trial = trials_.at(id);
      trials.push_back(id);
      results.insert(results.end(), {static_cast<double>(trial.state), trial.time, trial.loss});
    }
    brackets.push_back({{"number", number},
                        {"values", save_numbers(values)},
                        {"trials", std::move(trials)},
                        {"results", save_numbers(results)}});
  }
  return {{"next", next_}, {"brackets", std::move(brackets)}};
}

Result<void> Bands::load(const json& state) {
  Bands loaded(rule_);
  loaded.next_ = TRY(integer_at(state, "next"));
  if (loaded.next_ < 0) return fail("saved state: the next bracket has no number");
  for (const json& bracket : TRY(array_at(state, "brackets"))) TRY(loaded.load_bracket(bracket));
  *this = std::move(loaded);
  return {};
}

Result<void> Bands::load_bracket(const json& state) {
  const std::int64_t number = TRY(integer_at(state, "number"));
  const std::int64_t lowest = brackets_.empty() ? 0 : brackets_.rbegin()->first + 1;
  if (number < lowest || number >= next_ || first_milestone(kind_of(number)) < 1) {
    return fail("saved state: there is no such bracket");
  }
  const int kind = kind_of(number);
  const auto values = TRY(numbers_at(state, "values"));
  // A bracket never grows, and its milestone never falls.
  const bool possible =
      values.size() == 6 && is_index(values[0], kind + 1) && is_index(values[1], size(kind) + 1) &&
      values[1] >= 1 && is_index(values[2], rule_.max_t + 1) &&
      is_index(values[3], rule_.max_t + 1) && values[3] >= first_milestone(kind) &&
      is_index(values[4], size(kind) + 1) && std::isfinite(values[5]);
  if (!possible) return fail("saved state: a bracket is impossible");
  Bracket& bracket = brackets_.emplace(number, fresh(kind)).first->second;
  bracket.halvings = static_cast<int>(values[0]);
  bracket.n = values[1];
  bracket.step = values[2];
  bracket.milestone = values[3];
  bracket.open = values[4];
  bracket.done = values[5];
  if (bracket.open > 0) open_.insert(number);

  const json ids = TRY(array_at(state, "trials"));
  const auto results = TRY(numbers_at(state, "results"));
  if (results.size() != 3 * ids.size()) return fail("saved state: a trial without its result");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const double* const result = &results[3 * i];
    if (!ids[i].is_number_integer() || !is_index(result[0], 4) || !std::isfinite(result[1]) ||
        result[1] < 0) {
      return fail("saved state: a trial of a bracket is damaged");
    }
    const auto id = ids[i].get<TrialId>();
    const Trial trial{number, arrivals_++, State::running, result[1], result[2]};
    if (!trials_.emplace(id, trial).second) return fail("saved state: a trial stands twice");
    bracket.live.emplace(trial.order, id);
    if (trial.time >= bracket.milestone) bracket.reached.insert(comparable(trial.loss));
    ++running_;
    set_state(id, static_cast<State>(static_cast<int>(result[0])));
    const bool waits = trials_.at(id).state == State::waiting;
    if (!rule_.as_ray && (waits == runs_on(bracket, trial) || (waits && bracket.halvings == 0) ||
                          trials_.at(id).state == State::pending)) {
      return fail("saved state: a trial of a bracket is where it cannot be");
    }
  }
  const bool moves = bracket.open > 0 || std::ranges::any_of(bracket.live, [&](const auto& one) {
                       return trials_.at(one.second).state != State::waiting;
                     });
  if (!rule_.as_ray && !moves) return fail("saved state: a bracket in which no trial goes on");
  return {};
}

}  // namespace attune
