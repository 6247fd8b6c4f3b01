#pragma once
// What the load generator sends: the spaces, the results of imagined trials, their metrics.
#include <string>

#include "base/json.h"

namespace attune::bench {

// One parameter of each kind, ten in all.
std::string mixed_space();
std::string uniform_space();  // one parameter

// The experiment parameters of NNI's schema v2 for a tuner, with the seed that makes runs alike.
json experiment(const std::string& tuner);

// A result for a configuration: deterministic, smooth in nothing, between -1.01 and 1.01.
double objective(const json& parameters);

// Appends the commands of one trial to `bytes`: so many intermediate results, of one value, each a
// ReportMetricData of its own, and a TrialEnd. Later trials are better, so that Medianstop, which
// has to compare them all, stops none.
void append_trial(int trial, int steps, std::string& bytes);

// One result so bad that Medianstop must stop the trial.
std::string bad_result(int trial);

// ReportMetricData with the final result of a trial.
std::string final_result(int trial, double value);

}  // namespace attune::bench
