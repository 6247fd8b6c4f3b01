#pragma once
// The parts of an experiment file that NNI's schema does not have: resources, checkpoint, retries,
// stop, objectives, initialPoints, ... What is wrong is a finding.
#include "manager/experiment/experiment.h"
#include "manager/experiment/section.h"

namespace attune {

extern const std::vector<std::string> kRuleKeys;  // at the top of the file

// Fills in what the file says. The limits and the tuner have been read before.
void read_rules(const Section& top, Experiment& experiment);

// What is wrong with `simulation`. For the file of a user: a stored one, which a real run does not
// look into, may be from before it was checked.
void check_simulation(const Section& top);

// A warning for each key that has no effect on experiment.backend. None for simulations: the same
// file is for them and for the trials.
std::vector<std::string> without_effect(const Section& top, const Experiment& experiment);

}  // namespace attune
