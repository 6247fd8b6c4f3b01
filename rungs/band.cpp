#include "rungs/band.h"

#include <algorithm>
#include <cmath>

namespace attune {

Bands::Bands(const BandRule& rule) : rule_(rule) {
  // nearbyint() rounds half to even, as numpy does.
  kinds_ = static_cast<int>(std::nearbyint(std::log(rule.max_t) / std::log(rule.factor))) + 1;
}

double Bands::size(int s) const {
  return std::ceil(static_cast<double>(kinds_) / (s + 1) * std::pow(rule_.factor, s));
}

double Bands::first_milestone(int s) const {
  return std::trunc(rule_.max_t * std::pow(rule_.factor, -s));
}

double Bands::comparable(double loss) {
  return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss;
}

int Bands::kind_of(std::int64_t number) const {
  const auto place = static_cast<int>(number % kinds_);
  return rule_.for_bohb ? kinds_ - 1 - place : place;
}

Bands::Bracket Bands::fresh(int s) const {
  Bracket bracket;
  bracket.halvings = s;
  bracket.n = size(s);
  bracket.step = bracket.milestone = first_milestone(s);
  bracket.open = rule_.as_ray ? 0 : bracket.n;
  // Ray's estimate. It matters only for the order in which trials go on.
  double n = bracket.n;
  double step = bracket.step;
  for (int i = 0; i <= s; ++i) {
    bracket.work += n * step;
    n = std::ceil(n / rule_.factor);
    step = std::trunc(std::min(step * rule_.factor, rule_.max_t - bracket.step));
  }
  return bracket;
}

// In Ray the newest bracket has a place when one of its trials has ended or was stopped. So trials
// that come late join it at the milestone where it is.
Bands::Brackets::iterator Bands::bracket_for_new() {
  if (!rule_.as_ray && !open_.empty()) return brackets_.find(*open_.begin());
  if (rule_.as_ray && !brackets_.empty()) {
    const auto newest = std::prev(brackets_.end());
    if (static_cast<double>(newest->second.live.size()) != newest->second.n) return newest;
  }
  while (first_milestone(kind_of(next_)) < 1) ++next_;
  const std::int64_t number = next_++;
  if (!rule_.as_ray) open_.insert(number);
  return brackets_.emplace(number, fresh(kind_of(number))).first;
}

void Bands::add(TrialId trial) {
  auto& [number, bracket] = *bracket_for_new();
  if (!rule_.as_ray && --bracket.open == 0) open_.erase(number);
  const std::int64_t order = arrivals_++;
  bracket.live.emplace(order, trial);
  trials_[trial] = {.bracket = number, .order = order};
  ++running_;
  if (rule_.as_ray) set_state(trial, State::pending);
}

void Bands::withdraw(TrialId trial) {
  const std::int64_t number = trials_.at(trial).bracket;
  ++brackets_.at(number).open;
  open_.insert(number);
  forget(trial);
}

void Bands::set_state(TrialId id, State state) {
  Trial& trial = trials_.at(id);
  Bracket& bracket = brackets_.at(trial.bracket);
  if (trial.state == State::running) --running_;
  if (state == State::running) ++running_;
  trial.state = state;
  if (state == State::pending || state == State::ready) {
    bracket.startable.insert(trial.order);
    startable_.insert(trial.bracket);
  } else {
    bracket.startable.erase(trial.order);
    if (bracket.startable.empty()) startable_.erase(trial.bracket);
  }
}

void Bands::forget(TrialId id) {
  set_state(id, State::waiting);  // it no longer counts as running, nor as one to start
  const Trial& trial = trials_.at(id);
  Bracket& bracket = brackets_.at(trial.bracket);
  if (trial.time >= bracket.milestone) bracket.reached.erase(comparable(trial.loss));
  bracket.live.erase(trial.order);
  trials_.erase(id);
}

void Bands::drop_if_empty(std::int64_t number) {
  const auto at = brackets_.find(number);
  if (!rule_.as_ray && at->second.live.empty() && at->second.open == 0) brackets_.erase(at);
}

// A bracket without any trial left counts as finished in Ray, too.
double Bands::part_done(const Bracket& bracket) const {
  return finished(bracket) ? 1 : std::min(bracket.done / bracket.work, 1.0);
}

std::optional<TrialId> Bands::choose() const {
  if (startable_.empty()) return std::nullopt;
  std::int64_t best = *startable_.begin();
  if (!rule_.for_bohb) {
    const std::int64_t band = best / kinds_;
    for (const std::int64_t number : startable_) {
      if (number / kinds_ != band) break;
      if (part_done(brackets_.at(number)) < part_done(brackets_.at(best))) best = number;
    }
  }
  const Bracket& bracket = brackets_.at(best);
  return bracket.live.at(*bracket.startable.begin());
}

const Bands::Trial* Bands::find(TrialId trial) const {
  const auto found = trials_.find(trial);
  return found == trials_.end() ? nullptr : &found->second;
}

double Bands::milestone(TrialId trial) const {
  return brackets_.at(trials_.at(trial).bracket).milestone;
}

bool Bands::at_last_milestone(TrialId trial) const {
  return brackets_.at(trials_.at(trial).bracket).halvings == 0;
}

}  // namespace attune
