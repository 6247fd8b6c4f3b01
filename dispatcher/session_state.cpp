// Saves a session, and loads it.
#include <cmath>
#include <utility>

#include "base/saved_numbers.h"
#include "dispatcher/name_table.h"
#include "dispatcher/session.h"
#include "space/saved_point.h"

namespace attune {
namespace {

constexpr int kEnds = static_cast<int>(End::imported) + 1;
// One number describes a live trial: three flags, its State in two bits, and then flags that later
// versions added.
constexpr int kHasPoint = 1, kTold = 2, kInDoubt = 4, kStateUnit = 8, kAgain = 32, kFlags = 64;

double or_nan(const std::optional<double>& x) { return x.value_or(Point::kInactive); }

std::optional<double> or_nothing(double x) {
  return std::isnan(x) ? std::nullopt : std::optional(x);
}

// Adds the metrics of many trials to a state.
void save_metrics(json& state, const std::vector<const Metrics*>& all) {
  std::vector<double> counts, names, values;
  NameTable known;
  for (const Metrics* metrics : all) {
    counts.push_back(static_cast<double>(metrics->size()));
    for (const auto& [name, value] : *metrics) {
      names.push_back(known.number_of(name));
      values.push_back(value);
    }
  }
  state["metric_names"] = known.names();
  state["metric_counts"] = save_numbers(counts);
  state["metric_name"] = save_numbers(names);
  state["metric_value"] = save_numbers(values);
}

// Column by column: 10^5 outcomes are a handful of packed texts.
json save_history(const std::vector<Outcome>& history) {
  std::vector<double> trials, ends, losses, budgets;
  std::vector<const Point*> points;
  std::vector<const Metrics*> metrics;
  for (const Outcome& outcome : history) {
    trials.push_back(static_cast<double>(outcome.trial));
    ends.push_back(static_cast<double>(outcome.end));
    losses.push_back(or_nan(outcome.loss));
    budgets.push_back(or_nan(outcome.budget));
    points.push_back(&outcome.point);
    metrics.push_back(&outcome.metrics);
  }
  json state;  // member by member: an initialiser list would copy megabytes
  state["trials"] = save_numbers(trials);
  state["ends"] = save_numbers(ends);
  state["losses"] = save_numbers(losses);
  state["budgets"] = save_numbers(budgets);
  state["points"] = save_points(points);
  save_metrics(state, metrics);
  return state;
}

// Those of `count` trials.
Result<std::vector<Metrics>> load_metrics(const json& state, std::size_t count) {
  const auto counts = TRY(numbers_at(state, "metric_counts"));
  const auto names = TRY(numbers_at(state, "metric_name"));
  const auto values = TRY(numbers_at(state, "metric_value"));
  std::vector<std::string> known;
  for (const json& name : TRY(array_at(state, "metric_names"))) {
    if (!name.is_string()) return fail("saved state: a metric without a name");
    known.push_back(name);
  }
  if (counts.size() != count || names.size() != values.size()) {
    return fail("saved state: columns of different length");
  }
  std::vector<Metrics> all(count);
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_index(counts[i], static_cast<double>(names.size() - next) + 1))
      return fail("saved state: too few metrics");
    for (const std::size_t end = next + static_cast<std::size_t>(counts[i]); next < end; ++next) {
      if (!is_index(names[next], static_cast<double>(known.size())))
        return fail("saved state: a metric without a name");
      all[i].emplace_back(known[static_cast<std::size_t>(names[next])], values[next]);
    }
  }
  return all;
}

Result<std::vector<Outcome>> load_history(const Space& space, const json& state, Gaps gaps) {
  const auto trials = TRY(numbers_at(state, "trials"));
  const auto ends = TRY(numbers_at(state, "ends"));
  const auto losses = TRY(numbers_at(state, "losses"));
  const auto budgets = TRY(numbers_at(state, "budgets"));
  const std::size_t n = trials.size();
  auto metrics = TRY(load_metrics(state, n));
  auto points = TRY(load_points(space, TRY(value_at(state, "points")), n, gaps));
  for (const auto* column : {&ends, &losses, &budgets}) {
    if (column->size() != n) return fail("saved state: columns of different length");
  }
  std::vector<Outcome> history;
  history.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_index(ends[i], kEnds)) return fail("saved state: an impossible end");
    if (!is_whole(trials[i])) return fail("saved state: an impossible trial");
    history.push_back({.trial = static_cast<TrialId>(trials[i]),
                       .point = std::move(points[i]),
                       .loss = or_nothing(losses[i]),
                       .metrics = std::move(metrics[i]),
                       .end = static_cast<End>(ends[i]),
                       .budget = or_nothing(budgets[i])});
  }
  return history;
}

}  // namespace

json Session::save_asks(std::span<const Ask> asks) {
  std::vector<double> numbers;  // three each
  for (const auto& [id, request, for_job] : asks) {
    numbers.insert(numbers.end(),
                   {static_cast<double>(id), static_cast<double>(request), for_job ? 1.0 : 0.0});
  }
  return save_numbers(numbers);
}

Result<std::vector<Session::Ask>> Session::load_asks(const json& state) {
  const auto saved = TRY(numbers(state));
  if (saved.size() % 3 != 0) return fail("saved state: three numbers an ask expected");
  std::vector<Ask> asks;
  for (std::size_t i = 0; i < saved.size(); i += 3) {
    if (!is_whole(saved[i]) || !is_whole(saved[i + 1]) || !is_index(saved[i + 2], 2)) {
      return fail("saved state: an impossible ask");
    }
    asks.push_back(
        {static_cast<TrialId>(saved[i]), static_cast<TrialId>(saved[i + 1]), saved[i + 2] == 1});
  }
  return asks;
}

json Session::save_trials() const {
  std::vector<double> ids, flags, budgets, from;
  std::vector<const Point*> points;
  for (const auto& [id, trial] : trials_) {
    ids.push_back(static_cast<double>(id));
    flags.push_back((trial.point ? kHasPoint : 0) + (trial.told ? kTold : 0) +
                    (trial.in_doubt ? kInDoubt : 0) + kStateUnit * static_cast<int>(trial.state) +
                    (again_.contains(id) ? kAgain : 0));
    budgets.push_back(or_nan(trial.budget));
    if (trial.checkpoint_from) {
      from.insert(from.end(),
                  {static_cast<double>(id), static_cast<double>(*trial.checkpoint_from)});
    }
    if (trial.point) points.push_back(&*trial.point);
  }
  return {{"ids", save_numbers(ids)},
          {"flags", save_numbers(flags)},
          {"budgets", save_numbers(budgets)},
          {"checkpoints_from", save_numbers(from)},  // pairs
          {"points", save_points(points)}};
}

Result<void> Session::load_trials(const json& state) {
  const auto ids = TRY(numbers_at(state, "ids"));
  const auto flags = TRY(numbers_at(state, "flags"));
  const auto budgets = TRY(numbers_at(state, "budgets"));
  if (flags.size() != ids.size() || budgets.size() != ids.size()) {
    return fail("saved state: columns of different length");
  }
  std::size_t count = 0;
  for (const double flag : flags) {
    constexpr int kStates = static_cast<int>(State::paused) + 1;
    if (!is_index(flag, kFlags) || static_cast<int>(flag) % kAgain >= kStateUnit * kStates) {
      return fail("saved state: an impossible state of a trial");
    }
    count += (static_cast<int>(flag) & kHasPoint) != 0 ? 1 : 0;
  }
  auto points = TRY(load_points(*space_, TRY(value_at(state, "points")), count));
  auto point = points.begin();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const int flag = static_cast<int>(flags[i]);
    Trial trial;
    if ((flag & kHasPoint) != 0) trial.point = std::move(*point++);
    trial.budget = or_nothing(budgets[i]);
    trial.told = (flag & kTold) != 0;
    trial.in_doubt = (flag & kInDoubt) != 0;
    set_state(trial, static_cast<State>(flag % kAgain / kStateUnit));
    if (trial.told && trial.state != State::running) {
      return fail("saved state: a trial that is paused has a result");
    }
    if (flag >= kAgain) {
      if (!trial.in_doubt || !trial.point || trial.told) {
        return fail("saved state: a trial that is offered again was not in doubt");
      }
      again_.insert(static_cast<TrialId>(ids[i]));
    }
    if (!trial.told) ++untold_;
    const bool is_new =
        is_whole(ids[i]) && trials_.emplace(static_cast<TrialId>(ids[i]), std::move(trial)).second;
    if (!is_new) return fail("saved state: a trial stands twice");
  }
  if (!state.contains("checkpoints_from")) return {};  // saved by an earlier attuned
  const auto from = TRY(numbers_at(state, "checkpoints_from"));
  if (from.size() % 2 != 0) return fail("saved state: half of a pair in \"checkpoints_from\"");
  for (std::size_t i = 0; i < from.size(); i += 2) {
    const auto trial = is_whole(from[i]) && is_whole(from[i + 1])
                           ? trials_.find(static_cast<TrialId>(from[i]))
                           : trials_.end();
    if (trial == trials_.end()) return fail("saved state: a checkpoint of an unknown trial");
    trial->second.checkpoint_from = static_cast<TrialId>(from[i + 1]);
  }
  return {};
}

// An earlier attuned saved no "finished": it did not wait for results that come after the end.
Result<void> Session::load_finished(const json& state) {
  if (!state.contains("finished")) return {};
  const auto pairs = TRY(numbers_at(state, "finished"));
  if (pairs.size() % 2 != 0) return fail("saved state: half of a pair in \"finished\"");
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const auto trial =
        is_whole(pairs[i]) ? trials_.find(static_cast<TrialId>(pairs[i])) : trials_.end();
    const bool possible = trial != trials_.end() && !trial->second.told &&
                          trial->second.state == State::running && is_whole(pairs[i + 1]) &&
                          pairs[i + 1] >= 0;
    if (!possible ||
        !finished_.emplace(trial->first, static_cast<std::uint64_t>(pairs[i + 1])).second) {
      return fail("saved state: a trial that waits for its result does not run");
    }
  }
  return {};
}

json Session::save_metrics_of(Metrics Trial::* what) const {
  std::vector<double> ids;
  std::vector<const Metrics*> metrics;
  for (const auto& [id, trial] : trials_) {
    if ((trial.*what).empty()) continue;
    ids.push_back(static_cast<double>(id));
    metrics.push_back(&(trial.*what));
  }
  json state = {{"trials", save_numbers(ids)}};
  save_metrics(state, metrics);
  return state;
}

// An earlier attuned did not keep them.
Result<void> Session::load_metrics_of(const json& state, const char* name, Metrics Trial::* what) {
  if (!state.contains(name)) return {};
  const json saved = TRY(object_at(state, name));
  const auto ids = TRY(numbers_at(saved, "trials"));
  auto metrics = TRY(load_metrics(saved, ids.size()));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto trial =
        is_whole(ids[i]) ? trials_.find(static_cast<TrialId>(ids[i])) : trials_.end();
    if (trial == trials_.end() || metrics[i].empty() || !(trial->second.*what).empty()) {
      return fail("saved state: a report of an unknown trial");
    }
    trial->second.*what = std::move(metrics[i]);
  }
  return {};
}

json Session::save() const {
  std::vector<double> announced;
  for (const TrialId request : announced_) announced.push_back(static_cast<double>(request));
  json state;
  state["pending"] = save_asks(pending_);
  state["announced"] = save_numbers(announced);
  state["doubts"] = doubts_;
  state["requests"] = requests_;
  if (!space_) return state;  // before the first space there is nothing else
  if (first_due_) state["first_due"] = true;
  state["tuner"] = tuner_->save();
  if (!earlier_.empty()) {
    state["started"] = started_;
    state["starts"] = starts_.size();  // a tuner that has changed its way since has fewer
  }
  state["trials"] = save_trials();
  state["held"] = save_held();
  state["set_aside"] = save_set_aside();
  state["reported"] = save_metrics_of(&Trial::reported);
  state["assumed"] = save_metrics_of(&Trial::assumed);
  std::vector<double> finished;
  for (const auto& [id, at] : finished_) {
    finished.insert(finished.end(), {static_cast<double>(id), static_cast<double>(at)});
  }
  state["finished"] = save_numbers(finished);  // pairs
  state["history"] = save_history(history_);
  return state;
}

Result<void> Session::load(std::optional<Space> space, const json& state) {
  pending_ = TRY(load_asks(TRY(value_at(state, "pending"))));
  for (const double request : TRY(numbers_at(state, "announced"))) {
    if (!is_whole(request)) return fail("saved state: an impossible request");
    announced_.insert(static_cast<TrialId>(request));
  }
  const json doubts = TRY(value_at(state, "doubts"));
  if (!doubts.is_boolean()) return fail("saved state: \"doubts\" is neither true nor false");
  doubts_ = doubts.get<bool>();
  if (state.contains("requests")) {  // an earlier attuned did not count them
    requests_ = static_cast<std::uint64_t>(TRY(integer_at(state, "requests")));
  }
  if (!space) return {};
  // The space comes first: the tuner and the saved points need it.
  TRY(tuner_->set_space(*space));
  space_ = std::move(space);
  learn_from_earlier();
  if (!earlier_.empty()) {
    const auto started = TRY(integer_at(state, "started"));
    if (started < 0) return fail("saved state: \"started\" is negative");
    started_ = static_cast<std::size_t>(started);
    if (state.contains("starts")) {  // an earlier attuned did not say it
      const auto starts = TRY(integer_at(state, "starts"));
      if (starts < 0) return fail("saved state: \"starts\" is negative");
      starts_.resize(std::min(starts_.size(), static_cast<std::size_t>(starts)));
    }
  }
  TRY(tuner_->load(TRY(value_at(state, "tuner"))));
  history_ = TRY(load_history(*space_, TRY(object_at(state, "history")),
                              tuner_->takes_gaps() ? Gaps::allowed : Gaps::none));
  index_history();
  TRY(load_trials(TRY(object_at(state, "trials"))));
  TRY(load_finished(state));
  if (state.contains("first_due")) first_due_ = TRY(boolean_at(state, "first_due"));
  TRY(load_held(TRY(array_at(state, "held"))));
  TRY(load_set_aside(state));
  TRY(load_metrics_of(state, "reported", &Trial::reported));
  return load_metrics_of(state, "assumed", &Trial::assumed);
}

}  // namespace attune
