// What comes into a session from outside of it: imported results, and trials that run without
// having been proposed.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <ranges>
#include <unordered_map>
#include <unordered_set>

#include "dispatcher/carry_over.h"
#include "dispatcher/metrics.h"
#include "dispatcher/session.h"

namespace attune {
namespace {

// Equal for equal points with equal losses.
std::string key_of(const Point& point, double loss) {
  std::vector<double> numbers = point.values;
  numbers.push_back(loss);
  for (double& x : numbers) {
    if (x == 0) x = 0;                 // -0.0 equals 0.0
    if (x != x) x = Point::kInactive;  // one NaN for all
  }
  std::string key(numbers.size() * sizeof(double), '\0');
  std::memcpy(key.data(), numbers.data(), key.size());
  if (!point.parameters.is_null()) key += dump_json(point.parameters);
  return key;
}

// The members that are not of the space (Outcome::extra).
json extra_of(const Space& space, const json& parameters) {
  json extra;
  if (!parameters.is_object() || !space.unread.is_null()) return extra;
  for (const auto& [key, value] : parameters.items()) {
    const bool known = std::ranges::any_of(
        space.params, [&key](const Param& param) { return !param.condition && param.name == key; });
    if (!known) extra[key] = value;
  }
  return extra;
}

}  // namespace

// One pass over the records that counts what becomes of them; the counts are half of its length.
// NOLINTNEXTLINE(readability-function-size)
Replies Session::import(const std::vector<Imported>& records) {
  if (!space_) {
    log_.error("{} imported results ignored: there is no search space yet", records.size());
    return {};
  }
  // These sets are made only if a record needs them: else each of many imports would cost the
  // length of the history.
  const bool jobless = !std::ranges::all_of(records, &Imported::has_job);
  const bool ours = std::ranges::any_of(records, [](const auto& r) { return r.trial.has_value(); });
  std::unordered_set<std::string> known_results;  // without a job
  std::unordered_set<TrialId> known_trials;       // with a result
  for (std::size_t i = 0; (jobless || ours) && i < history_.size(); ++i) {
    const Outcome& outcome = history_[i];
    if (!outcome.is_result()) continue;
    if (jobless) known_results.insert(key_of(outcome.point, *outcome.loss));
    if (ours) known_trials.insert(outcome.trial);
  }
  // A record without a known job may be the result of a live trial, but only of one that is in
  // doubt: that trial may have ended while no daemon ran.
  std::unordered_map<std::string, std::vector<TrialId>> doubtful;  // the oldest trial last
  for (const auto& [id, trial] : std::views::reverse(trials_)) {
    if (trial.in_doubt && !trial.told && trial.point) {
      doubtful[key_of(*trial.point, 0)].push_back(id);
    }
  }
  const auto take_doubtful = [&](const Point& point) {
    std::vector<TrialId>& equal = doubtful[key_of(point, 0)];
    while (!equal.empty()) {
      const auto found = trials_.find(equal.back());  // its own record may have come before
      equal.pop_back();
      if (found != trials_.end() && !found->second.told) return found;
    }
    return trials_.end();
  };

  Replies replies;
  std::vector<Outcome> outcomes;
  std::size_t known = 0;
  for (const Imported& record : records) {
    if (record.trial && known_trials.contains(*record.trial)) {
      ++known;
      continue;
    }
    auto point = carried_point(*tuner_, *space_, record.parameters, Missing::open);
    auto metrics = to_metrics(record.value, objective_.metric);
    const auto loss = metrics ? loss_of(*metrics) : std::nullopt;
    if (!point || !metrics || !loss) {
      log_.warning("imported result {} left out: {}", record.index,
                   !point     ? point.error().message
                   : !metrics ? metrics.error().message
                              : "the metric is not finite");
      continue;
    }
    // A trial that ran when a parameter was added has a drawn value for it, so compare with one.
    const auto whole = carried_point(*tuner_, *space_, record.parameters, Missing::drawn);
    auto own = record.trial ? trials_.find(*record.trial)
               : whole      ? take_doubtful(*whole)
                            : trials_.end();
    if (own != trials_.end() && !own->second.told) {
      const TrialId id = own->first;
      append(replies, final_result(id, record.value));
      // The manager sends no TrialEnd for an imported trial.
      if (const auto told = trials_.find(id); told != trials_.end()) forget(told);
      ++known;
      continue;
    }
    if (!record.has_job && ((whole && known_results.contains(key_of(*whole, *loss))) ||
                            !known_results.insert(key_of(*point, *loss)).second)) {
      ++known;
      continue;
    }
    outcomes.push_back({.trial = kImportedTrial,
                        .point = *std::move(point),
                        .loss = loss,
                        .metrics = *std::move(metrics),
                        .end = End::imported,
                        .extra = extra_of(*space_, record.parameters)});
  }
  log_.info("imported {} of {} results; {} were known as results of trials", outcomes.size(),
            records.size(), known);
  if (outcomes.empty()) return replies;
  tuner_->tell(outcomes);
  for (Outcome& outcome : outcomes) {
    outcome.extra = nullptr;  // not saved, so it is told only once
    stand_ins_.add(outcome);
  }
  history_.insert(history_.end(), std::make_move_iterator(outcomes.begin()),
                  std::make_move_iterator(outcomes.end()));
  append(replies, answer_pending());
  return replies;
}

Result<Effects> Session::adopt(TrialId id, const json& parameters, bool is_paused) {
  if (!space_) return fail("there is no search space yet");
  Effects effects;
  if (const auto found = trials_.find(id); found != trials_.end()) {
    Trial& trial = found->second;
    if (finished_.contains(id)) {
      revive(id);
      return effects;
    }
    if (!trial.in_doubt) return fail("trial " + std::to_string(id) + " runs already");
    trial.in_doubt = false;
    again_.erase(id);
    if (is_paused) return paused(id);
    if (trial.state == State::pausing) {
      effects.decisions.push_back({id, Action::pause, "decided before the restart"});
    } else if (trial.state == State::paused) {
      // The manager runs a trial that was paused as far as we know: the record that it continued
      // was lost (a power cut costs the last second of a journal).
      set_state(trial, State::running);
      release_held(id);
    }
    return effects;
  }
  const bool has_result = std::ranges::any_of(history_, [id](const Outcome& outcome) {
    return outcome.trial == id && outcome.is_result();
  });
  if (has_result) return fail("trial " + std::to_string(id) + " has a result already");
  Point point = TRY(carried_point(*tuner_, *space_, parameters, Missing::drawn));
  tuner_->adopt(id, point);
  trials_.emplace(id, Trial{.point = std::move(point)});
  ++untold_;
  if (is_paused) effects = paused(id);
  return effects;
}

void Session::revive(TrialId id) {
  if (finished_.erase(id) > 0) return;  // the tuner takes it to run
  const auto last = std::ranges::find(history_.rbegin(), history_.rend(), id, &Outcome::trial);
  if (last == history_.rend() || last->is_result() || trials_.contains(id)) return;
  const Outcome outcome = std::move(*last);
  history_.erase(std::next(last).base());
  resultless_.erase(id);
  tuner_->adopt(id, outcome.point);
  trials_.emplace(id, Trial{.point = outcome.point, .budget = outcome.budget});
  ++untold_;
}

}  // namespace attune
