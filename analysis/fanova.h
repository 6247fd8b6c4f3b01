#pragma once
// Which parameters the results of trials depend on, over the whole search space: functional
// analysis of variance, by a random forest (math/trees/marginal_variance.h has the source).
//
// Each parameter is judged by a forest of the trials in which it is active, and counts by their
// share of all trials. So whether a parameter is active counts for the choice that decides it, and
// its values for itself. Parameters that are active in the same trials share a forest. Where one of
// the others is inactive the forest gets a drawn value, so that it cannot tell by that value what
// another parameter decides. Distributions are those that the space declares: a parameter on a log
// scale is used on that scale.
//
// Constraints are left out of account. Each candidate of an input_choice is judged alone, and their
// variances are added. Candidates that no trial has had are left out.
#include "analysis/evidence.h"

namespace attune {

// For each parameter of the space the share of the variance that it explains alone. They add up to
// 1; all are 0 if nothing is explained: all results are equal, or all points.
Importances fanova(const Evidence& evidence);

// What two parameters explain only together, beyond what each of them explains alone.
struct PairImportance {
  std::string first, second;  // paths, in the order of the space
  double share = 0;
};

struct PairImportances {
  Importances alone;
  std::vector<PairImportance> pairs;  // the largest first
};

// The same with pairs: the shares of parameters and pairs together add up to 1. A pair is judged by
// a forest of the trials in which both are active; a pair that no trial has had, or that has a
// constant, is left out or has 0. Averaged inside of 60 cells (math/trees/interaction_variance.h).
// A forest sees less of a pair than there is: of 2000 trials with x + 4 (y - 1/2) (z - 1/2) the
// pair explains 4/7 and gets 0.43.
PairImportances fanova_pairs(const Evidence& evidence);

}  // namespace attune
