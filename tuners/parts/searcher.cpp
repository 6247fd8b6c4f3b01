#include "tuners/parts/searcher.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "space/features.h"
#include "space/saved_point.h"

namespace attune {
namespace {

// Writes its own parameters, and so cannot share them with a rule.
constexpr std::string_view kOwnParameters = "Batch";
// To let these forget and learn anew would repeat their sequence of points.
constexpr std::string_view kLearnNothing[] = {"Random", "QMC", "GridSearch"};
constexpr TrialId kFirstImport = kImportedTrial - 1;

json save_metrics(const Metrics& metrics) {
  json names = json::array();
  std::vector<double> values;
  for (const auto& [name, value] : metrics) {
    names.push_back(name);
    values.push_back(value);
  }
  return {names, save_numbers(values)};
}

Result<Metrics> load_metrics(const json& state) {
  if (!state.is_array() || state.size() != 2 || !state[0].is_array()) {
    return fail("saved state: metrics must be names and values");
  }
  const auto values = TRY(numbers(state[1]));
  if (values.size() != state[0].size()) return fail("saved state: a metric without a value");
  Metrics metrics;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!state[0][i].is_string()) return fail("saved state: a metric without a name");
    metrics.emplace_back(state[0][i].get<std::string>(), values[i]);
  }
  return metrics;
}

}  // namespace

Argument Searcher::argument(const std::string& fallback) {
  return {.name = "searcher",
          .type = Argument::Type::text,
          .fallback = fallback,
          .help = "the tuner that proposes new configurations"};
}

Result<Searcher> Searcher::make(const std::string& owner, const std::string& name,
                                const Context& context, const Rng& rng) {
  const TunerRegistry registry = builtin_tuners();
  const auto found = registry.find(name, "tuner");
  if (!found) return fail(owner + ".searcher: " + found.error().message);
  const TunerEntry& entry = **found;
  if (entry.wants_reports || entry.name == kOwnParameters) {
    return fail(owner + ".searcher: " + entry.name +
                " follows a schedule of its own; name a search algorithm, as in \"TPE\"");
  }
  const json arguments = TRY(resolve_arguments(entry.name, entry.arguments, json::object()));
  auto tuner = TRY(entry.make(arguments, context, rng.fork("searcher " + entry.name)));
  return Searcher(std::move(tuner), std::ranges::count(kLearnNothing, entry.name) == 0);
}

Result<void> Searcher::set_space(const Space& space) {
  TRY(tuner_->set_space(space));
  space_ = space;
  needed_ = Features(space).size() + 1;
  trials_.clear();
  usable_.clear();
  level_.reset();
  return {};
}

Answer Searcher::ask(TrialId id) {
  Answer answer = std::move(tuner_->ask(std::span(&id, 1)).front());
  if (const auto* proposal = std::get_if<Proposal>(&answer)) {
    trials_.insert_or_assign(id, Trial{.point = proposal->point, .pending = true});
  }
  return answer;
}

void Searcher::withdraw(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end()) return;
  withdraw(id, found->second);
  trials_.erase(found);
}

void Searcher::adopt(TrialId id, const Point& point) {
  trials_.insert_or_assign(id, Trial{.point = point, .pending = true});
  tuner_->adopt(id, point);
}

void Searcher::observe(TrialId id, double level, std::optional<double> loss,
                       const Metrics& metrics) {
  ATTUNE_CHECK(trials_.contains(id));
  if (loss && !std::isfinite(*loss)) loss.reset();
  record(id, {level, loss, metrics});
}

void Searcher::import(const Outcome& outcome, double level) {
  const TrialId lowest = trials_.empty() ? 0 : trials_.begin()->first;
  const TrialId key = std::min(kFirstImport, lowest - 1);
  trials_.emplace(key, Trial{.point = outcome.point, .ended = true});
  record(key, {level, outcome.usable() ? outcome.loss : std::nullopt, outcome.metrics});
}

void Searcher::record(TrialId key, Reached reached) {
  Trial& trial = trials_.at(key);
  if (std::ranges::count(trial.reached, reached.level, &Reached::level) > 0) return;
  if (reached.loss) ++usable_[reached.level];
  trial.reached.push_back(std::move(reached));
  const auto best = best_known_level();
  const bool rises = level_ && best != level_;
  level_ = best;
  if (rises && learns_) return learn_anew();
  if (trial.reached.back().level == level_) {
    tell(key, trial, trial.reached.back());
  } else {
    withdraw(key, trial);  // it is not what the tuner learns, and waits for no result
  }
}

void Searcher::end(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end() || found->second.ended) return;
  found->second.ended = true;
  if (found->second.reached.empty()) tell(id, found->second, {});
}

// Without a loss the trial is told as failed.
void Searcher::tell(TrialId key, Trial& trial, const Reached& reached) {
  if (std::exchange(trial.told, true)) return;
  const bool imported = key < kImportedTrial;
  if (!imported && !trial.pending) tuner_->adopt(key, trial.point);
  trial.pending = false;
  const Outcome outcome{.trial = imported ? kImportedTrial : key,
                        .point = trial.point,
                        .loss = reached.loss,
                        .metrics = reached.metrics,
                        .end = imported       ? End::imported
                               : reached.loss ? End::completed
                                              : End::failed,
                        .budget = reached.level};
  tuner_->tell(std::span(&outcome, 1));
}

void Searcher::withdraw(TrialId key, Trial& trial) {
  if (std::exchange(trial.pending, false)) tuner_->withdraw(key);
}

// The highest level with enough losses, else the lowest one with any.
std::optional<double> Searcher::best_known_level() const {
  std::optional<double> best;
  for (const auto& [level, count] : usable_) {
    if (!best || count >= needed_) best = level;
  }
  return best;
}

// The tuner forgets everything and is told what is known at level_.
void Searcher::learn_anew() {
  ATTUNE_CHECK(tuner_->set_space(space_).has_value());  // it took this space before
  for (auto& [key, trial] : trials_) {
    trial.told = false;
    trial.pending = key > kImportedTrial;
    if (trial.pending) tuner_->adopt(key, trial.point);
    const auto at = std::ranges::find(trial.reached, *level_, &Reached::level);
    if (at != trial.reached.end()) {
      tell(key, trial, *at);
    } else if (!trial.reached.empty()) {
      withdraw(key, trial);
    } else if (trial.ended) {
      tell(key, trial, {});
    }
  }
}

const Point* Searcher::point_of(TrialId id) const {
  const auto found = trials_.find(id);
  return found == trials_.end() ? nullptr : &found->second.point;
}

json Searcher::save() const {
  std::vector<const Point*> points;
  json trials = json::array();
  for (const auto& [key, trial] : trials_) {
    points.push_back(&trial.point);
    json reached = json::array();
    for (const Reached& one : trial.reached) {
      const double loss = one.loss.value_or(std::numeric_limits<double>::quiet_NaN());
      reached.push_back({save_numbers(std::array{one.level, loss}), save_metrics(one.metrics)});
    }
    trials.push_back({key, trial.ended, trial.pending, trial.told, std::move(reached)});
  }
  std::vector<double> level;
  if (level_) level.push_back(*level_);
  return {{"points", save_points(points)},
          {"trials", std::move(trials)},
          {"level", save_numbers(level)},
          {"tuner", tuner_->save()}};
}

Result<void> Searcher::load(const json& state) {
  const json saved = TRY(array_at(state, "trials"));
  auto points = TRY(load_points(space_, TRY(value_at(state, "points")), saved.size()));
  Trials trials;
  std::map<double, std::size_t> usable;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const json& one = saved[i];
    const bool well_formed = one.is_array() && one.size() == 5 && one[0].is_number_integer() &&
                             one[1].is_boolean() && one[2].is_boolean() && one[3].is_boolean() &&
                             one[4].is_array();
    if (!well_formed) return fail("saved state: a trial of the searcher is damaged");
    Trial trial{std::move(points[i]), {}, one[1], one[2], one[3]};
    for (const json& reached : one[4]) {
      if (!reached.is_array() || reached.size() != 2) {
        return fail("saved state: a level without its result");
      }
      const auto pair = TRY(numbers(reached[0]));
      if (pair.size() != 2 || !std::isfinite(pair[0])) {
        return fail("saved state: a level and its loss expected");
      }
      Reached result{pair[0], {}, TRY(load_metrics(reached[1]))};
      if (std::isfinite(pair[1])) result.loss = pair[1];
      if (result.loss) ++usable[result.level];
      trial.reached.push_back(std::move(result));
    }
    if (!trials.emplace(one[0].get<TrialId>(), std::move(trial)).second) {
      return fail("saved state: a trial of the searcher stands twice");
    }
  }
  const auto level = TRY(numbers_at(state, "level"));
  if (level.size() > 1 || (level.size() == 1 && !usable.contains(level[0]))) {
    return fail("saved state: nobody has reached the level of the searcher");
  }
  TRY(tuner_->load(TRY(object_at(state, "tuner"))));
  trials_ = std::move(trials);
  usable_ = std::move(usable);
  level_ = level.empty() ? std::nullopt : std::optional(level[0]);
  return {};
}

}  // namespace attune
