#include "manager/dashboard/stored_posterior.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "manager/cli/commands/searched_space.h"

namespace attune {
namespace {

constexpr std::int64_t kMostRead = 20'000;  // trials of which the model takes some hundreds

json axis_json(const PosteriorAxis& axis) { return {{"name", axis.path}, {"values", axis.values}}; }

}  // namespace

Result<void> StoredPosterior::fit(StoreReader& reader, const StoredExperiment& experiment,
                                  const std::string& metric) {
  const Tally tally = TRY(reader.tally(experiment));
  const std::string key = fmt::format("{} {} {} {} {}", experiment.id, experiment.started,
                                      tally.succeeded, experiment.file.dump(), metric);
  if (fitted_ && fitted_->key == key) return {};
  StoredEvidence stored = TRY(stored_evidence(reader, experiment, metric, kMostRead));
  Posterior model = TRY(Posterior::fit(stored.evidence));
  fitted_.emplace(
      Fitted{key, std::move(model), std::move(stored.evidence.space), std::move(stored.objective)});
  return {};
}

Result<json> StoredPosterior::slice(StoreReader& reader, const StoredExperiment& experiment,
                                    const PosteriorQuestion& question) {
  TRY(fit(reader, experiment, question.metric));
  const auto& [key, model, space, objective] = *fitted_;
  const auto point_of = [&](const TrialRecord& trial) {
    return point_from_json(space, without_budget(space, trial.proposed.parameters));
  };
  Point at = model.best();
  if (!question.at.empty()) {
    at = TRY(point_of(TRY(reader.trial(experiment, question.at))));
  } else if (experiment.objectives.size() == 1) {
    // The best trial may not be among those that were fitted, or lie outside of a space that was
    // changed.
    for (const TrialRecord& trial : TRY(reader.best(experiment)))
      at = point_of(trial).value_or(std::move(at));
  }
  PosteriorSlice slice = TRY(question.y.empty() ? model.slice(question.x, at)
                                                : model.grid(question.x, question.y, at));
  if (objective.maximize)
    for (double& mean : slice.mean) mean = -mean;
  json answer = {{"metric", objective.metric}, {"x", axis_json(slice.x)}};
  if (!question.y.empty()) answer["y"] = axis_json(slice.y);
  answer["mean"] = slice.mean;
  answer["deviation"] = slice.deviation;
  answer["at"] = to_json(space, slice.at);
  answer["trials"] = model.trials();
  return answer;
}

}  // namespace attune
