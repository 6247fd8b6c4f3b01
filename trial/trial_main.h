#pragma once
// A function as a program that a manager can run as a trial:
//
//   int main() { return attune::run_trial(train); }
//
// It gets the parameters, and talks to the manager through its reporter. What it returns is the
// final result; when it returns nothing its last report is.
//
// A manager that pauses or stops the trial ends the process with SIGTERM, which nothing here
// catches: what set_checkpoint() has named is safe at any moment, also from a machine that fails.
// Checkpoints are folders checkpoint_<step> in Trial::checkpoint_dir(). Until set_checkpoint() one
// is below ".partial", so that what a started attempt finds is whole. Of those that count the
// newest two stay: the manager may be copying the older one. Where nobody keeps checkpoints the
// function need not know: they go into a temporary folder that is removed at the end.
#include "trial/trial.h"
#include "trial/trial_function.h"

namespace attune {

// The exit code of the process: 0, or 1 after one line on standard error: the function threw, it
// gave no result at all, or the manager cannot be reached (Trial).
int run_trial(const TrialFunction& function, const TrialOptions& options = {});

}  // namespace attune
