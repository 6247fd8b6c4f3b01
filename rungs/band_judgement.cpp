// When a bracket is judged, and what becomes of its trials.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "rungs/band.h"

namespace attune {

bool Bands::runs_on(const Bracket& bracket, const Trial& trial) const {
  return trial.time < bracket.milestone || (bracket.halvings == 0 && !rule_.stop_last);
}

bool Bands::finished(const Bracket& bracket) const {
  return rule_.stop_last && bracket.halvings == 0 && bracket.reached.size() == bracket.live.size();
}

Bands::Verdict Bands::result(TrialId id, double time, double loss) {
  Trial& trial = trials_.at(id);
  Bracket& bracket = brackets_.at(trial.bracket);
  const std::int64_t number = trial.bracket;
  bracket.done += time - trial.time;
  if (trial.time >= bracket.milestone) bracket.reached.erase(comparable(trial.loss));
  if (time >= bracket.milestone) bracket.reached.insert(comparable(loss));
  trial.time = time;
  trial.loss = loss;
  Verdict verdict{{.trial = id, .milestone = bracket.milestone, .loss = loss}, {}};
  Ruling& own = verdict.reporter;
  if (runs_on(bracket, trial)) return verdict;
  if (!rule_.as_ray && bracket.halvings == 0) {
    own.call = Call::stop;
    own.complete = true;
    forget(id);
    drop_if_empty(number);
    return verdict;
  }
  own.call = Call::pause;
  // A trial that is ready runs on if it could not be paused, or reports what it had done before the
  // pause. It may still be paused, so it must not count as running.
  const bool ready = trial.state == State::ready;
  set_state(id, State::running);
  const auto is_paused = [this](const auto& one) {
    const State state = trials_.at(one.second).state;
    return state == State::waiting || state == State::ready;
  };
  const bool waits_in_ray =
      rule_.as_ray && rule_.for_bohb &&
      (static_cast<double>(bracket.live.size()) != bracket.n ||
       std::ranges::count_if(bracket.live, is_paused) + 1 < std::ssize(bracket.live));
  if (!waits_in_ray) process(bracket, verdict);
  if (own.call == Call::pause) {
    set_state(id, State::waiting);
    own = pause(id);
  } else if (own.call == Call::go_on && ready) {
    set_state(id, State::ready);
  }
  drop_if_empty(number);
  return verdict;
}

Bands::Ruling Bands::pause(TrialId id) const {
  const Trial& trial = trials_.at(id);
  const Bracket& bracket = brackets_.at(trial.bracket);
  const std::size_t of = bracket.reached.size();
  return {.trial = id,
          .call = Call::pause,
          .milestone = bracket.milestone,
          .loss = trial.loss,
          .rank = bracket.reached.count_below(comparable(trial.loss)) + 1,
          .of = of,
          .missing = bracket.live.size() - of + static_cast<std::size_t>(bracket.open)};
}

std::vector<Bands::Ruling> Bands::remove(TrialId id) {
  const std::int64_t number = trials_.at(id).bracket;
  Bracket& bracket = brackets_.at(number);
  forget(id);
  Verdict verdict;
  if (!finished(bracket)) process(bracket, verdict);
  drop_if_empty(number);
  return std::move(verdict.others);
}

// Judges the bracket if all its trials have reached the milestone.
void Bands::process(Bracket& bracket, Verdict& verdict) {
  if (bracket.open > 0 || bracket.reached.size() < bracket.live.size()) return;
  if (!rule_.as_ray) {
    // After a judgement perhaps all that are left are past the new milestone, too.
    while (!bracket.live.empty() && bracket.reached.size() == bracket.live.size() &&
           bracket.halvings > 0) {
      judge(bracket, verdict);
    }
    return;
  }
  if (!finished(bracket)) return judge(bracket, verdict);
  for (const auto& [order, id] : std::map(bracket.live)) {
    const Trial& trial = trials_.at(id);
    if (trial.state != State::waiting && trial.state != State::ready) continue;
    verdict.others.push_back({.trial = id,
                              .call = Call::stop,
                              .complete = true,
                              .milestone = bracket.milestone,
                              .loss = trial.loss});
    forget(id);
  }
  verdict.reporter.call = Call::stop;
  verdict.reporter.complete = true;
}

void Bands::judge(Bracket& bracket, Verdict& verdict) {
  const double milestone = bracket.milestone;
  const bool all_go_on = bracket.halvings == 0;  // they run to their own ends
  if (!all_go_on) raise_milestone(bracket);

  // The worst first. Of equal ones that which came first is stopped first, as in Ray.
  std::vector<std::pair<double, TrialId>> order;
  for (const auto& [arrival, id] : bracket.live) {
    order.emplace_back(comparable(trials_.at(id).loss), id);
  }
  std::ranges::stable_sort(order, std::greater(), &std::pair<double, TrialId>::first);
  const auto of = static_cast<double>(order.size());
  const auto kept = static_cast<std::size_t>(all_go_on ? of : std::min(bracket.n, of));

  std::size_t rank = order.size();
  for (const auto& [loss, id] : order) {
    const Trial& trial = trials_.at(id);
    Ruling ruling{.trial = id,
                  .call = Call::stop,
                  .milestone = milestone,
                  .loss = trial.loss,
                  .rank = rank,
                  .of = order.size(),
                  .kept = kept,
                  .cutoff = kept > 0 ? order[order.size() - kept].first : 0};
    const bool is_paused = trial.state == State::waiting || trial.state == State::ready;
    Ruling& told = is_paused ? verdict.others.emplace_back() : verdict.reporter;
    if (rank-- > kept) {
      told = ruling;
      forget(id);
    } else if (runs_on(bracket, trial)) {
      ruling.call = Call::go_on;
      told = ruling;
      if (is_paused) set_state(id, State::ready);
    } else if (rule_.as_ray ? finished(bracket) && !rule_.of_2018 : bracket.halvings == 0) {
      // It is past the last milestone. Ray of 2018 left it paused for ever.
      ruling.complete = true;
      told = ruling;
      forget(id);
    } else if (is_paused) {
      verdict.others.pop_back();  // it waits at the next milestone already
    }
  }
}

void Bands::raise_milestone(Bracket& bracket) {
  --bracket.halvings;
  bracket.n = std::ceil(bracket.n / rule_.factor);
  const double most = rule_.of_2018 ? rule_.max_t - bracket.milestone : rule_.max_t;
  bracket.step = std::trunc(std::min(bracket.step * rule_.factor, most));
  bracket.milestone = rule_.of_2018 ? bracket.milestone + bracket.step : bracket.step;
  bracket.reached = {};
  for (const auto& [order, id] : bracket.live) {
    const Trial& trial = trials_.at(id);
    if (trial.time >= bracket.milestone) bracket.reached.insert(comparable(trial.loss));
  }
}

std::vector<Bands::Ruling> Bands::proceed() {
  Verdict verdict;
  for (auto at = brackets_.begin(); at != brackets_.end() && startable_.empty();) {
    const std::int64_t number = at->first;
    Bracket& bracket = (at++)->second;
    const bool waits = rule_.as_ray && std::ranges::any_of(bracket.live, [this](const auto& one) {
                         return trials_.at(one.second).state == State::waiting;
                       });
    if (!waits && bracket.open == 0) continue;
    bracket.open = 0;
    open_.erase(number);
    process(bracket, verdict);
    drop_if_empty(number);
  }
  return std::move(verdict.others);
}

}  // namespace attune
