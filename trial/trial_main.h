#pragma once
// Makes a program of a function, which a manager can run as a trial:
//
//   int main() { return attune::run_trial(train); }
//
// The function gets the parameters, and talks to the manager through its reporter. What it returns
// is the final result; if it returns nothing, its last report is.
//
// A manager that pauses or stops the trial ends the process with SIGTERM, which nothing here
// catches. What set_checkpoint() has named is safe at any moment, even if the machine fails.
// Checkpoints are folders checkpoint_<step> in Trial::checkpoint_dir(). Until set_checkpoint()
// names it, a checkpoint is below ".partial", so that an attempt finds only whole ones when it
// starts. Two stay, the newest and the one before: the manager may be copying the older one. If
// nobody keeps checkpoints, they go into a temporary folder that is removed at the end, and the
// function need not know.
#include "trial/trial.h"
#include "trial/trial_function.h"

namespace attune {

// The exit code of the process: 0, or 1 after one line on standard error: the function threw, it
// gave no result at all, or the manager cannot be reached (Trial).
int run_trial(const TrialFunction& function, const TrialOptions& options = {});

}  // namespace attune
