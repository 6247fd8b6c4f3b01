#pragma once
// Reads what earlier experiments found, for the key learnFrom of an experiment file.
#include <string>
#include <vector>

#include "base/json.h"
#include "manager/experiment/experiment.h"

namespace attune {

struct EarlierResults {
  json for_daemon;                    // Initialize::earlier; null: there are no results
  std::vector<std::string> folders;   // of the experiments, in their order
  std::vector<std::string> messages;  // one line about each
  std::vector<std::string> problems;  // of experiments that cannot be read; each names its key
};

// Finds the experiments that `experiment.learn_from` names: those with a '/' are folders, the
// others names or ids in the store of its working directory. Of each it takes at most 200 succeeded
// trials, of wide spaces fewer (most_earlier_trials()): the best half of these, and some of the
// others from good to bad; of their parameters those that the search space knows. `own_id` is left
// out: an experiment does not learn from itself. Problems: an experiment does not exist, or there
// are more than 20, of which then none is read.
EarlierResults read_earlier_results(const Experiment& experiment, const std::string& own_id);

}  // namespace attune
