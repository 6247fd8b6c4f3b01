#include "manager/cli/commands/best_by_model.h"

#include <fmt/format.h>

#include "analysis/posterior.h"
#include "manager/cli/commands/console.h"
#include "manager/cli/commands/stored_evidence.h"

namespace attune {
namespace {

// With fewer results a model says little about noise.
constexpr std::size_t kLeast = 10;
constexpr std::int64_t kMostRead = 20'000;

}  // namespace

Result<BestByModel> best_by_model(StoreReader& reader, const StoredExperiment& experiment) {
  const Objective& objective = experiment.objective();
  if (experiment.objectives.size() > 1 || objective.limit) {
    return fail(
        fmt::format("experiment {} has several objectives or a limit: a model sees the best trial "
                    "only of one objective without a limit",
                    experiment.id));
  }
  const StoredEvidence stored =
      TRY(stored_evidence(reader, experiment, objective.metric, kMostRead));
  const std::size_t results = stored.evidence.results.size();
  if (results < kLeast) {
    return fail(fmt::format("a model needs {} results to see the best trial; experiment {} has {}",
                            kLeast, experiment.id, results));
  }
  const Posterior model = TRY(Posterior::fit(stored.evidence));
  const Expectation lowest = model.lowest();
  const double sign = objective.maximize ? -1 : 1;
  return BestByModel{.trial = TRY(reader.trial(experiment, stored.trials[lowest.trial])),
                     .result = sign * stored.evidence.results[lowest.trial],
                     .expected = sign * lowest.mean,
                     .uncertainty = lowest.mean_deviation,
                     .trial_deviation = lowest.trial_deviation};
}

std::string text_of(const BestByModel& best) {
  return fmt::format(
      "the model expects {} +- {} of trial {}, which gave {}; one result lies +- {} about such a "
      "mean",
      number_text(best.expected), number_text(best.uncertainty), best.trial.job_id,
      number_text(best.result), number_text(best.trial_deviation));
}

json expectation_json(const BestByModel& best) {
  return {
      {"mean", best.expected}, {"deviation", best.uncertainty}, {"noise", best.trial_deviation}};
}

}  // namespace attune
