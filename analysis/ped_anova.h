#pragma once
// Which parameters decide whether a trial is among the best: PED-ANOVA.
//
// Sources: Watanabe, Bansal, Hutter, "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance
// in Arbitrary Subspaces" (IJCAI 2023), for the divergence; Baba, Ozaki, Watanabe, "Conditional
// PED-ANOVA" (KDD 2026, arXiv 2601.20800), for parameters that are not always active.
//
// The region are the best trials by one quantile, the target the best by a smaller one. For a
// parameter let p be the density of its values in the target, q in the region. Its amount is the
// Pearson divergence sum q (p/q - 1)^2, and its share is that of all amounts. (The papers multiply
// all amounts by the same square of a ratio of quantiles.) A parameter that is active in a share b
// of the region and a share a of the target is judged among its active trials, and its amount is
// multiplied by a^2/b. Whether it is active counts for the choice that decides it.
//
// * A position in [0, 1] (space/features.h) falls into one of 50 cells. The density is a mixture of
//   normals around the cells, cut off at the ends and weighted by their trials. Scott's rule over
//   the target gives their deviation: 1.059 min(deviation, interquartile range / 1.34) n^(-1/5), at
//   least 0.3 cells. The region gets the same deviation, unlike in the papers: each rule of its own
//   makes p/q arbitrarily large between the few values of a parameter. So p/q is at most
//   (trials of the region) / (trials of the target).
// * Categories have their frequencies.
// * The prior: the target has one more trial, which is distributed as the region.
//
// Of an input_choice each candidate is judged alone, and the amounts are added. Constraints are
// left out of account. What only two parameters together decide is in no share.
#include "analysis/evidence.h"

namespace attune {

// 0 < target <= region <= 1. Rounded up to whole trials. The target has at least 5, or half of the
// region if that is less. A trial that is as good as the last one also belongs.
struct PedAnovaSettings {
  double target = 0.1;
  double region = 1;
};

struct PedAnovaAnswer {
  Importances shares;  // add up to 1; all 0: target and region look alike, as for equal results
  std::size_t target = 0, region = 0;  // trials
};

// Smaller results are better; only their order matters. Any number of trials, also none. Costs
// O(trials x parameters) and keeps no copy of the trials.
PedAnovaAnswer ped_anova(const Evidence& evidence, const PedAnovaSettings& settings = {});

}  // namespace attune
