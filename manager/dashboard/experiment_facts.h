#pragma once
// What the page needs to know of an experiment besides what the commands print.
#include <string>
#include <vector>

#include "base/json.h"
#include "manager/store/store_reader.h"

namespace attune {

// Adds concurrency, max_trials, max_seconds, seconds, tuner and metrics (docs/api.md).
void add_facts(json& object, const StoredExperiment& experiment, double now);

// How the candidates of a choice are shown, at most 1,000 of them.
std::vector<std::string> choice_texts(const std::vector<json>& candidates);

// The search space as a list of parameters, for axes; empty: attune cannot read it.
json space_json(const StoredExperiment& experiment);

}  // namespace attune
