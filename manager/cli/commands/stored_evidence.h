#pragma once
// The trials of a stored experiment as analysis/ takes them: for attune
// importance, attune best, and the dashboard.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/evidence.h"
#include "manager/store/store_reader.h"

namespace attune {

struct StoredEvidence {
  Evidence evidence;  // smaller results are better: negated if the objective is maximised
  std::vector<std::string> trials;  // the id of the trial that gave each result
  Objective objective;
  std::int64_t without_result = 0;  // succeeded trials that lack a finite number
  std::int64_t outside = 0;         // those whose parameters do not lie in the search space of now
};

// The objective of a metric; empty: the first. Error: there is no such objective.
Result<Objective> find_objective(const StoredExperiment& experiment, const std::string& metric);

// Of the succeeded trials. `metric`: of an objective; empty: of the first. `most`: of more trials
// only every second, third, ... counts, so that about so many remain. The errors say what is
// missing: the objective, a search space that attune can read, two trials.
Result<StoredEvidence> stored_evidence(StoreReader& reader, const StoredExperiment& experiment,
                                       const std::string& metric,
                                       std::optional<std::int64_t> most = std::nullopt);

}  // namespace attune
