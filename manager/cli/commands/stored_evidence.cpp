#include "manager/cli/commands/stored_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/arguments.h"
#include "manager/cli/commands/searched_space.h"
#include "manager/cli/progress.h"

namespace attune {
Result<Objective> find_objective(const StoredExperiment& experiment, const std::string& metric) {
  std::vector<std::string> names;
  for (const Objective& objective : experiment.objectives) {
    if (metric.empty() || objective.metric == metric) return objective;
    names.push_back(objective.metric);
  }
  const std::string near = nearest_name(metric, names);
  return fail(fmt::format("--metric: \"{}\" is no objective of experiment {}{}; there {}: {}",
                          metric, experiment.id,
                          near.empty() ? "" : fmt::format(", did you mean \"{}\"?", near),
                          names.size() == 1 ? "is" : "are", fmt::join(names, ", ")));
}

Result<StoredEvidence> stored_evidence(StoreReader& reader, const StoredExperiment& experiment,
                                       const std::string& metric,
                                       std::optional<std::int64_t> most) {
  StoredEvidence found;
  found.objective = TRY(find_objective(experiment, metric));
  Evidence& evidence = found.evidence;
  evidence.space = TRY(searched_space(experiment));
  const bool first = found.objective.metric == experiment.objective().metric;
  TrialFilter filter;
  filter.statuses = {TrialStatus::succeeded};
  if (most) {
    const std::int64_t trials = TRY(reader.tally(experiment)).succeeded;
    filter.every = std::max<std::int64_t>(1, (trials + *most - 1) / *most);
  }
  TRY(reader.trials(experiment, filter, [&](const TrialRecord& trial) {
    const auto result = reported_value(trial.final_metric, found.objective.metric, first);
    if (!result) {
      ++found.without_result;
      return true;
    }
    auto point =
        point_from_json(evidence.space, without_budget(evidence.space, trial.proposed.parameters));
    if (!point) {
      ++found.outside;
      return true;
    }
    evidence.points.push_back(*std::move(point));
    found.trials.push_back(trial.job_id);
    evidence.results.push_back(found.objective.maximize ? -*result : *result);
    return true;
  }));
  const auto count = static_cast<std::int64_t>(evidence.results.size());
  if (count >= 2) return found;
  std::string why;
  if (found.without_result > 0)
    why += fmt::format("; {} without such a number", trials_text(found.without_result));
  if (found.outside > 0)
    why += fmt::format("; {} outside of its search space", trials_text(found.outside));
  return fail(
      fmt::format("this needs 2 succeeded trials with a finite {}, and experiment {} has {}{}",
                  found.objective.metric, experiment.id, count == 0 ? "none" : "1", why));
}

}  // namespace attune
