// What reports change: trials pause, and those that are through or hopeless are stopped.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "rungs/reason_text.h"
#include "tuners/parts/curve_ledger.h"

namespace attune {

std::vector<Decision> CurveLedger::report(const Report& report) {
  std::vector<Decision> decisions = judge(report);
  if (pauses_) std::ranges::move(stop_hopeless(), std::back_inserter(decisions));
  for (const TrialId trial : std::exchange(unneeded_, {})) {
    decisions.push_back({trial, Action::drop_checkpoint, "no trial will go on from it"});
  }
  return decisions;
}

std::vector<Decision> CurveLedger::judge(const Report& report) {
  const auto number = trials_.find(report.trial);
  const auto now = metrics_(report);
  if (!number || !now) return {};
  const Curve& curve = trials_[*number];
  if (!curve.lives()) return {};
  const auto& [resource, result] = *now;
  // A trial that goes on from an older checkpoint, or begins again, passes levels that are known.
  if (levels_.learns() && resource > CurveLevels::kMost) return {};
  trials_.reach(*number, resource, result);
  // It is where others have ended, so it shows whether this is the end.
  const bool may_end = levels_.learns() && resource >= levels_.end();
  if (may_end && curve.state == Curve::State::running) trials_.run(*number, Curve::kToItsEnd);
  change_levels(levels_.reach(resource));
  if (std::ranges::any_of(result, [](double x) { return std::isnan(x); })) {
    if (!pauses_) return {};
    fail_at_next(*number);
    finish(*number, Checkpoint::dropped);
    return {{report.trial, Action::stop, metrics_.not_finite_text(resource)}};
  }
  // The end that was learnt may not be that of all trials: each one ends by itself.
  const std::size_t within = levels_.within(resource);
  const std::size_t count = levels_.learns() ? std::min(within, levels_.last()) : within;
  if (count > 0) model_.observe(*number, count - 1, result);
  if (!levels_.learns() && resource >= levels_.end()) {
    finish(*number, Checkpoint::kept);
    return {{report.trial, Action::stop,
             used_up_text(metrics_.attribute(), resource, levels_.end(), metrics_.text(result)),
             true}};
  }
  if (pauses_ && curve.until < Curve::kToItsEnd && model_.is_hopeless(*number)) {
    return {stop_at_limit(*number)};
  }
  if (resource < pause_of(curve)) return {};
  // A trial that could not be paused runs on, and is asked again at each level.
  release_origin(*number);
  trials_.pause(*number, levels_.after(resource));
  std::vector<Decision> decisions = give_up();
  if (curve.waits()) {
    const auto waiting = waiting_by_end();
    const auto own = std::ranges::find(waiting, *number);
    decisions.insert(decisions.begin(),
                     {report.trial, Action::pause,
                      fmt::format("{}{} waits; its expected end, {}, ranks {} of {} that wait",
                                  at(resource), metrics_.text(result), end_text(*number),
                                  own - waiting.begin() + 1, waiting.size())});
  }
  return decisions;
}

// "epoch 3 of 9: "
std::string CurveLedger::at(double resource) const {
  return fmt::format("{} {:.6g}{}: ", metrics_.attribute(), resource, of_end());
}

// Those that wait, the one that is expected to end best first.
std::vector<std::size_t> CurveLedger::waiting_by_end() const {
  std::vector<std::size_t> some, unknown;
  std::vector<double> ends;
  for (const std::size_t number : trials_.waiting()) {
    (model_.append_rough(number, ends) ? some : unknown).push_back(number);
  }
  std::vector<std::size_t> waiting;
  for (const std::size_t i : ranking(ends, metrics_.shape())) waiting.push_back(some[i]);
  waiting.insert(waiting.end(), unknown.begin(), unknown.end());
  return waiting;
}

std::string CurveLedger::end_text(std::size_t number) const {
  const auto end = model_.rough_result(number);
  return metrics_.text(end.value_or(std::vector<double>(metrics_.shape().width(), HUGE_VAL)));
}

// Of an end that nobody knows yet there is nothing to say.
std::string CurveLedger::of_end() const {
  return levels_.end() < HUGE_VAL ? fmt::format(" of {:.6g}", levels_.end()) : "";
}

// Stops the waiting trials that promise least once there are too many.
std::vector<Decision> CurveLedger::give_up() {
  std::vector<Decision> decisions;
  if (trials_.waiting().size() <= 2 * kMostWaiting) return decisions;
  const auto waiting = waiting_by_end();
  for (std::size_t i = kMostWaiting; i < waiting.size(); ++i) {
    const std::size_t number = waiting[i];
    const Curve& curve = trials_[number];
    if (curve.state == Curve::State::paused) {
      decisions.push_back(
          {curve.trial, Action::stop,
           fmt::format("{}its expected end, {}, ranks {} of {} that wait; the best {} wait on, "
                       "cutoff {}",
                       at(curve.reached), end_text(number), i + 1, waiting.size(), kMostWaiting,
                       end_text(waiting[kMostWaiting - 1]))});
    }
    finish(number, Checkpoint::dropped);
  }
  return decisions;
}

// Trials that have learnt while they wait that others keep the limits that they break.
std::vector<Decision> CurveLedger::stop_hopeless() {
  std::vector<Decision> decisions;
  if (metrics_.shape().limits == 0) return decisions;
  std::vector<std::size_t> hopeless;
  for (const std::size_t number : trials_.waiting()) {
    if (model_.is_hopeless(number)) hopeless.push_back(number);
  }
  for (const std::size_t number : hopeless) {
    const bool is_paused = trials_[number].state == Curve::State::paused;
    const Decision decision = stop_at_limit(number);
    if (is_paused) decisions.push_back(decision);
  }
  return decisions;
}

Decision CurveLedger::stop_at_limit(std::size_t number) {
  const double level = levels_.all()[*model_.results().highest(number)];
  finish(number, Checkpoint::dropped);
  return {trials_[number].trial, Action::stop,
          fmt::format("{}{}, which others there keep", at(level),
                      metrics_.text(*model_.last_result(number)))};
}

}  // namespace attune
