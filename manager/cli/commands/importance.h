#pragma once
// How much each parameter of a stored experiment matters, for attune importance and the dashboard.
#include <optional>
#include <string>

#include "analysis/fanova.h"
#include "manager/cli/commands/stored_evidence.h"

namespace attune {

struct ImportanceQuestion {
  std::string method = "ped-anova";       // or "fanova"
  std::string metric;                     // an objective; empty: the first
  bool pairs = false;                     // of parameters; only of fanova
  std::optional<std::int64_t> most = {};  // as for stored_evidence()
};

struct JudgedImportance {
  PairImportances shares;
  std::size_t target = 0;  // trials that count as the best; 0: the method knows no such thing
};

JudgedImportance judged_importance(const Evidence& evidence, const ImportanceQuestion& question);

// The output of attune importance --json, without its `format`.
json importance_json(const StoredExperiment& experiment, const ImportanceQuestion& question,
                     const StoredEvidence& stored, const JudgedImportance& found);
// All of it. Errors as for stored_evidence().
Result<json> importance_json(StoreReader& reader, const StoredExperiment& experiment,
                             const ImportanceQuestion& question);

}  // namespace attune
