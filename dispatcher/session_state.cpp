// Saving a session and going on from what was saved.
#include <array>
#include <cmath>
#include <utility>

#include "base/saved_numbers.h"
#include "dispatcher/session.h"
#include "space/saved_point.h"

namespace attune {
namespace {

constexpr std::size_t kMostTrials = std::size_t{1} << 53;  // as doubles hold them
constexpr std::size_t kEnds = static_cast<std::size_t>(End::imported) + 1;

double or_nan(const std::optional<double>& x) { return x.value_or(Point::kInactive); }

std::optional<double> or_nothing(double x) {
  return std::isnan(x) ? std::nullopt : std::optional(x);
}

// Column by column: 10^5 outcomes are a handful of packed texts.
json save_history(const std::vector<Outcome>& history) {
  std::vector<double> trials, ends, losses, budgets, counts, names, metrics;
  std::vector<const Point*> points;
  std::vector<std::string> known;
  for (const Outcome& outcome : history) {
    trials.push_back(static_cast<double>(outcome.trial));
    ends.push_back(static_cast<double>(outcome.end));
    losses.push_back(or_nan(outcome.loss));
    budgets.push_back(or_nan(outcome.budget));
    points.push_back(&outcome.point);
    counts.push_back(static_cast<double>(outcome.metrics.size()));
    for (const auto& [name, value] : outcome.metrics) {
      auto at = std::ranges::find(known, name);
      if (at == known.end()) at = known.insert(at, name);
      names.push_back(static_cast<double>(at - known.begin()));
      metrics.push_back(value);
    }
  }
  json state;  // member by member: an initialiser list would copy megabytes
  state["trials"] = save_numbers(trials);
  state["ends"] = save_numbers(ends);
  state["losses"] = save_numbers(losses);
  state["budgets"] = save_numbers(budgets);
  state["points"] = save_points(points);
  state["metric_names"] = known;
  state["metric_counts"] = save_numbers(counts);
  state["metric_name"] = save_numbers(names);
  state["metric_value"] = save_numbers(metrics);
  return state;
}

bool is_index(double x, std::size_t size) {
  return x >= 0 && x < static_cast<double>(size) && x == std::floor(x);
}

Result<Metrics> load_metrics(double count, std::size_t& next, const std::vector<std::string>& known,
                             const std::vector<double>& names, const std::vector<double>& values) {
  Metrics metrics;
  if (!is_index(count, names.size() - next + 1)) return fail("saved state: too few metrics");
  for (const std::size_t end = next + static_cast<std::size_t>(count); next < end; ++next) {
    if (!is_index(names[next], known.size())) return fail("saved state: a metric without a name");
    metrics.emplace_back(known[static_cast<std::size_t>(names[next])], values[next]);
  }
  return metrics;
}

Result<std::vector<Outcome>> load_history(const Space& space, const json& state) {
  const auto trials = TRY(numbers_at(state, "trials"));
  const auto ends = TRY(numbers_at(state, "ends"));
  const auto losses = TRY(numbers_at(state, "losses"));
  const auto budgets = TRY(numbers_at(state, "budgets"));
  const auto counts = TRY(numbers_at(state, "metric_counts"));
  const auto names = TRY(numbers_at(state, "metric_name"));
  const auto metrics = TRY(numbers_at(state, "metric_value"));
  std::vector<std::string> known;
  for (const json& name : TRY(array_at(state, "metric_names"))) {
    if (!name.is_string()) return fail("saved state: a metric without a name");
    known.push_back(name);
  }
  const std::size_t n = trials.size();
  auto points = TRY(load_points(space, TRY(value_at(state, "points")), n));
  for (const auto* column : {&ends, &losses, &budgets, &counts}) {
    if (column->size() != n) return fail("saved state: columns of different length");
  }
  if (names.size() != metrics.size()) {
    return fail("saved state: columns of different length");
  }
  std::vector<Outcome> history;
  history.reserve(n);
  std::size_t metric = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_index(ends[i], kEnds)) return fail("saved state: an impossible end");
    if (!is_index(std::abs(trials[i]), kMostTrials))
      return fail("saved state: an impossible trial");
    history.push_back({.trial = static_cast<TrialId>(trials[i]),
                       .point = std::move(points[i]),
                       .loss = or_nothing(losses[i]),
                       .metrics = TRY(load_metrics(counts[i], metric, known, names, metrics)),
                       .end = static_cast<End>(ends[i]),
                       .budget = or_nothing(budgets[i])});
  }
  return history;
}

}  // namespace

json Session::save() const {
  if (!space_) return nullptr;
  json trials = json::array();
  for (const auto& [id, trial] : trials_) {
    trials.push_back({{"trial", id},
                      {"point", trial.point ? save_point(*trial.point) : json()},
                      {"budget", save_numbers(std::array{or_nan(trial.budget)})},
                      {"told", trial.told},
                      {"state", static_cast<int>(trial.state)}});
  }
  json state;
  state["tuner"] = tuner_->save();
  state["trials"] = std::move(trials);
  state["held"] = save_held();
  state["history"] = save_history(history_);
  return state;
}

Result<void> Session::load(Space space, const json& state, bool manager_pauses) {
  TRY(tuner_->set_space(space));
  TRY(tuner_->load(TRY(value_at(state, "tuner"))));
  history_ = TRY(load_history(space, TRY(object_at(state, "history"))));
  for (const json& saved : TRY(array_at(state, "trials"))) {
    Trial trial;
    if (const json point = TRY(value_at(saved, "point")); !point.is_null()) {
      trial.point = TRY(load_point(space, point));
    }
    const auto budget = TRY(numbers_at(saved, "budget"));
    if (budget.size() != 1) return fail("saved state: one budget a trial expected");
    trial.budget = or_nothing(budget[0]);
    trial.told = TRY(value_at(saved, "told")) == true;
    const std::int64_t number = TRY(integer_at(saved, "state"));
    if (number < 0 || number > static_cast<int>(State::paused)) {
      return fail("saved state: an impossible state of a trial");
    }
    const bool told = trial.told;
    const auto paused = static_cast<State>(number) == State::paused;
    if (told && paused) return fail("saved state: a paused trial has a result");
    set_state(trial, static_cast<State>(number));
    trial.in_doubt = !paused || manager_pauses;
    const bool is_new = trials_.emplace(TRY(integer_at(saved, "trial")), std::move(trial)).second;
    if (!is_new) return fail("saved state: a trial stands twice");
    if (!told) ++untold_;
  }
  space_ = std::move(space);
  TRY(load_held(TRY(array_at(state, "held"))));
  doubts_ = true;
  return {};
}

Replies Session::end_doubtful() {
  Replies replies;
  if (!std::exchange(doubts_, false)) return replies;
  std::size_t failed = 0;
  for (auto at = trials_.begin(); at != trials_.end();) {
    auto& [id, trial] = *at;
    if (!trial.in_doubt) {
      ++at;
      continue;
    }
    if (!trial.told) {
      ++failed;
      append(replies,
             conclude(trial, Outcome{.trial = id, .end = End::failed, .budget = trial.budget}));
    }
    at = trials_.erase(at);
  }
  if (failed > 0) log_.warning("{} trials did not survive the restart: told as failed", failed);
  return replies;
}

}  // namespace attune
