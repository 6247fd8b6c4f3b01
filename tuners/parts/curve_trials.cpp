#include "tuners/parts/curve_trials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/saved_numbers.h"
#include "space/saved_point.h"

namespace attune {
std::size_t CurveTrials::add(Curve curve) {
  const std::size_t number = curves_.size();
  curves_.push_back(std::move(curve));
  if (curves_[number].trial != Curve::kNoTrial) assign(curves_[number].trial, number);
  set_state(number, curves_[number].state);
  return number;
}

void CurveTrials::assign(TrialId trial, std::size_t number) {
  const auto [at, is_new] = numbers_.try_emplace(trial, number);
  if (is_new) return;
  finish(at->second);
  curves_[at->second].trial = Curve::kNoTrial;
  at->second = number;
}

std::optional<std::size_t> CurveTrials::find(TrialId trial) const {
  const auto found = numbers_.find(trial);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

void CurveTrials::set_state(std::size_t number, Curve::State state) {
  running_.erase(number);
  waiting_.erase(number);
  curves_[number].state = state;
  if (state == Curve::State::running) running_.insert(number);
  if (curves_[number].waits()) waiting_.insert(number);
}

void CurveTrials::reach(std::size_t number, double resource, std::vector<double> result) {
  if (resource < curves_[number].reached) return;
  const bool is_finite = std::ranges::all_of(result, [](double x) { return std::isfinite(x); });
  if (!is_finite) result.clear();
  curves_[number].reached = resource;
  curves_[number].last = std::move(result);
}

void CurveTrials::run(std::size_t number, std::size_t until) {
  curves_[number].until = until;
  set_state(number, Curve::State::running);
}

void CurveTrials::pause(std::size_t number, std::size_t until) {
  curves_[number].until = until;
  set_state(number, Curve::State::paused);
}

void CurveTrials::end(std::size_t number, double resource, std::vector<double> result,
                      std::size_t until) {
  curves_[number].reached = resource;
  curves_[number].last = std::move(result);
  curves_[number].until = until;
  set_state(number, Curve::State::ended);
}

void CurveTrials::finish(std::size_t number) { set_state(number, Curve::State::over); }

void CurveTrials::hand_over(std::size_t number, TrialId next) {
  Curve& curve = curves_[number];
  numbers_.erase(curve.trial);
  curve.from = std::exchange(curve.trial, next);
  assign(next, number);
}

TrialId CurveTrials::release_origin(std::size_t number) {
  return std::exchange(curves_[number].from, Curve::kNoTrial);
}

json CurveTrials::save(std::size_t width) const {
  std::vector<const Point*> points;
  std::vector<double> trials, origins, states, reached, until, last;
  for (const Curve& curve : curves_) {
    points.push_back(&curve.point);
    trials.push_back(static_cast<double>(curve.trial));
    origins.push_back(static_cast<double>(curve.from));
    states.push_back(static_cast<double>(curve.state));
    reached.push_back(curve.reached);
    until.push_back(static_cast<double>(curve.until));
    for (std::size_t k = 0; k < width; ++k) {
      last.push_back(curve.last.empty() ? std::numeric_limits<double>::quiet_NaN() : curve.last[k]);
    }
  }
  return {{"points", save_points(points)},    {"trials", save_numbers(trials)},
          {"origins", save_numbers(origins)}, {"states", save_numbers(states)},
          {"reached", save_numbers(reached)}, {"until", save_numbers(until)},
          {"last", save_numbers(last)}};
}

Result<CurveTrials> CurveTrials::load(const Space& space, std::size_t width, const json& state) {
  const auto damaged = [] { return fail("saved state: an impossible trial"); };
  const auto trials = TRY(numbers_at(state, "trials")), origins = TRY(numbers_at(state, "origins"));
  auto points = TRY(load_points(space, TRY(value_at(state, "points")), trials.size()));
  const auto states = TRY(numbers_at(state, "states")), reached = TRY(numbers_at(state, "reached"));
  const auto until = TRY(numbers_at(state, "until"));
  const std::size_t count = trials.size();
  std::vector<double> last(count * width, std::numeric_limits<double>::quiet_NaN());
  if (state.contains("last")) last = TRY(numbers_at(state, "last"));
  if (origins.size() != count || states.size() != count || reached.size() != count ||
      until.size() != count || last.size() != count * width) {
    return damaged();
  }
  CurveTrials loaded;
  for (std::size_t i = 0; i < count; ++i) {
    constexpr auto kStates = static_cast<double>(Curve::State::over) + 1;
    if (!is_whole(trials[i]) || !is_whole(origins[i]) || !is_index(states[i], kStates) ||
        !is_index(until[i], double{Curve::kToItsEnd} + 1) || !std::isfinite(reached[i]) ||
        reached[i] < 0) {
      return damaged();
    }
    Curve curve{.point = std::move(points[i]),
                .trial = static_cast<TrialId>(trials[i]),
                .from = static_cast<TrialId>(origins[i]),
                .state = static_cast<Curve::State>(static_cast<int>(states[i])),
                .reached = reached[i],
                .until = static_cast<std::size_t>(until[i]),
                .last = {}};
    const auto its = std::span(last).subspan(i * width, width);
    if (!std::isnan(its[0])) curve.last.assign(its.begin(), its.end());
    const bool has_trial = curve.trial != Curve::kNoTrial;
    if (has_trial ? loaded.find(curve.trial).has_value() : curve.state != Curve::State::over) {
      return damaged();
    }
    loaded.add(std::move(curve));
  }
  return loaded;
}

}  // namespace attune
