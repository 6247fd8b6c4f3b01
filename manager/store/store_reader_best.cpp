// StoreReader: which trials are the best.
#include <algorithm>

#include "manager/store/store_reader_state.h"

namespace attune {

std::string status_condition(const std::vector<TrialStatus>& statuses) {
  if (statuses.empty()) return "";
  std::string words;
  for (const TrialStatus status : statuses)
    words += fmt::format("{}'{}'", words.empty() ? "" : ", ", to_text(status));
  return fmt::format("AND t.status IN ({}) ", words);
}

// Calls `each` with every trial in the order of submission. Reads the final metric as JSON, since
// the column `score` has the first objective only.
Result<void> StoreReader::standings(const StoredExperiment& experiment,
                                    const std::vector<TrialStatus>& statuses,
                                    const std::function<void(Ranked)>& each) {
  auto statement = TRY(state_->database.prepare(
      "SELECT t.trial, t.final_metric FROM trials AS t WHERE t.experiment = ?1 " +
      status_condition(statuses) + "ORDER BY t.trial"));
  return statement.query({experiment.number}, [&](const SqlRow& row) {
    const std::string metric = row.text(1);
    each({metric.empty() ? std::nullopt : standing_of(json_of(metric), experiment.objectives),
          row.integer(0)});
    return true;
  });
}

Result<Leaders> StoreReader::leaders(const StoredExperiment& experiment) {
  Leaders leaders;
  TRY(standings(experiment, {TrialStatus::succeeded}, [&](Ranked trial) {
    if (trial.standing) leaders.offer(trial.trial, std::move(*trial.standing));
  }));
  return leaders;
}

// Calls `each` with the trials in order, the best first. Trials that lack an objective come last.
Result<void> StoreReader::ranked(const StoredExperiment& experiment, const TrialFilter& filter,
                                 const std::function<bool(const TrialRecord&)>& each) {
  std::vector<Ranked> all;
  TRY(standings(experiment, filter.statuses, [&](Ranked trial) {
    if (trial.trial >= filter.from && trial.trial % filter.every == 0)
      all.push_back(std::move(trial));
  }));
  std::ranges::stable_sort(all, [](const Ranked& a, const Ranked& b) {
    return a.standing && (!b.standing || *a.standing < *b.standing);
  });
  if (filter.limit) all.resize(std::min(all.size(), static_cast<std::size_t>(*filter.limit)));
  for (const Ranked& next : all) {
    if (!each(TRY(trial(experiment, std::to_string(next.trial))))) break;
  }
  return {};
}

Result<std::vector<TrialRecord>> StoreReader::best(const StoredExperiment& experiment,
                                                   std::optional<std::int64_t> count) {
  const std::vector<Objective>& objectives = experiment.objectives;
  if (objectives.size() == 1)
    return state_->all(
        trial_query() + fmt::format("AND t.status = 'SUCCEEDED' AND t.score IS NOT NULL "
                                    "ORDER BY t.score {}, t.trial LIMIT ?2",
                                    experiment.objective().maximize ? "DESC" : "ASC"),
        {experiment.number, count.value_or(1)}, trial_of);
  std::vector<TrialRecord> found;
  if (several(objectives)) {
    for (const std::int64_t number : TRY(leaders(experiment)).ids()) {
      if (count && std::ssize(found) >= *count) break;
      found.push_back(TRY(trial(experiment, std::to_string(number))));
    }
    return found;
  }
  TrialFilter filter;
  filter.statuses = {TrialStatus::succeeded};
  filter.limit = count.value_or(1);
  TRY(ranked(experiment, filter, [&](const TrialRecord& trial) {
    if (!standing_of(trial.final_metric, objectives)) return false;
    found.push_back(trial);
    return true;
  }));
  return found;
}

Result<std::optional<BestSoFar>> StoreReader::best_so_far(const StoredExperiment& experiment) {
  if (experiment.objectives.size() == 1) {
    std::vector<TrialRecord> best = TRY(this->best(experiment));
    if (best.empty()) return std::nullopt;
    return BestSoFar{std::move(best.front())};
  }
  const Leaders leaders = TRY(this->leaders(experiment));
  if (leaders.empty()) return std::nullopt;
  return BestSoFar{TRY(trial(experiment, std::to_string(leaders.best_id()))),
                   leaders.best().violation, leaders.trade_offs()};
}

}  // namespace attune
