#include "manager/cli/commands/importance.h"

#include <utility>

#include "analysis/ped_anova.h"

namespace attune {

JudgedImportance judged_importance(const Evidence& evidence, const ImportanceQuestion& question) {
  if (question.method == "ped-anova") {
    PedAnovaAnswer answer = ped_anova(evidence);
    return {{.alone = std::move(answer.shares), .pairs = {}}, answer.target};
  }
  if (question.pairs) return {fanova_pairs(evidence), 0};
  return {{.alone = fanova(evidence), .pairs = {}}, 0};
}

json importance_json(const StoredExperiment& experiment, const ImportanceQuestion& question,
                     const StoredEvidence& stored, const JudgedImportance& found) {
  json object = {{"experiment_id", experiment.id},
                 {"metric", stored.objective.metric},
                 {"optimize_mode", stored.objective.maximize ? "maximize" : "minimize"},
                 {"method", question.method},
                 {"trials", stored.evidence.results.size()},
                 {"best_trials", found.target > 0 ? json(found.target) : json()},
                 {"without_result", stored.without_result},
                 {"outside", stored.outside}};
  json& parameters = object["parameters"] = json::array();
  for (const auto& [path, share] : found.shares.alone)
    parameters.push_back({{"parameter", path}, {"share", share}});
  if (!question.pairs) return object;
  json& pairs = object["pairs"] = json::array();
  for (const PairImportance& pair : found.shares.pairs)
    pairs.push_back({{"parameters", {pair.first, pair.second}}, {"share", pair.share}});
  return object;
}

Result<json> importance_json(StoreReader& reader, const StoredExperiment& experiment,
                             const ImportanceQuestion& question) {
  const StoredEvidence stored =
      TRY(stored_evidence(reader, experiment, question.metric, question.most));
  return importance_json(experiment, question, stored,
                         judged_importance(stored.evidence, question));
}

}  // namespace attune
