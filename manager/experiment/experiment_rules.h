#pragma once
// Reads keys of an experiment file that NNI's schema does not have: resources, checkpoint, retries,
// stop, objectives, initialPoints, ... Mistakes become findings of the section.
#include "manager/experiment/experiment.h"
#include "manager/experiment/section.h"

namespace attune {

extern const std::vector<std::string> kRuleKeys;  // at the top of the file

// Fills in `experiment` from the file. Call it after the limits were read: `stop.wallTime` lowers
// max_experiment_seconds.
void read_rules(const Section& top, Experiment& experiment);

// Checks the key `simulation`. Only for files of users: a stored file may come from a version that
// did not check it, and a real run does not use it.
void check_simulation(const Section& top);

// A warning for each key that has no effect with experiment.backend. None for a simulation, since
// the same file may be used for real trials.
std::vector<std::string> without_effect(const Section& top, const Experiment& experiment);

}  // namespace attune
