#pragma once
// The best trial as a model sees it. With noisy results the best observed one was also lucky.
#include <optional>
#include <string>

#include "manager/store/store_reader.h"

namespace attune {

struct BestByModel {
  TrialRecord trial;
  double result = 0;           // that the trial gave
  double expected = 0;         // the mean of its results, if it were repeated
  double uncertainty = 0;      // deviation of that mean, as the model sees it
  double trial_deviation = 0;  // how far single results lie from their mean: the noise
};

// Fits a Gaussian process (analysis/posterior.h) to the succeeded trials; of more than 20,000, only
// every second, third, ... counts. Takes up to 0.5 s with 60 parameters, and more in proportion to
// their number. Errors say what is missing: one objective
// without a limit, ten results, a search space that attune can read.
Result<BestByModel> best_by_model(StoreReader& reader, const StoredExperiment& experiment);

// "the model expects 0.131 +- 0.02 of trial t0012, which gave 0.14; one result lies +- 0.03 about
// such a mean".
std::string text_of(const BestByModel& best);
// {"mean": 0.131, "deviation": 0.02, "noise": 0.03}
json expectation_json(const BestByModel& best);

}  // namespace attune
