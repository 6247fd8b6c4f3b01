#pragma once
// Makes densities from trials: chooses the kernel of each trial on each variable of a group.
// Private to TPE.
#include <span>
#include <vector>

#include "math/density/product_mixture.h"
#include "tuners/parts/tpe_groups.h"

namespace attune {

// One side of the split, the good trials or the others: the coordinates of each trial on all
// variables, and its weight.
struct TpeSide {
  std::vector<const TpeGroups::Coordinate*> trials;
  std::vector<double> weights;  // > 0

  void add(const TpeGroups::Coordinate* trial, double weight) {
    trials.push_back(trial);
    weights.push_back(weight);
  }
};

// The density over the variables of one group, in the group's order. It is a mixture of one
// component for each trial and one for the declared distribution, whose weight is the mean weight
// of the trials times `prior_weight`.
//
// Widths, with n trials and d variables (Watanabe, arXiv 2304.11127, sections 3.3 and 4.3, has the
// choices; the constants are measured):
// * numbers: Scott's rule, 0.15 n^(-1/(d+4)) of the range, not below range / min(100, n + 2)
//   ("magic clip"), and not below half of the trial's cell;
// * K categories: each other category has 2 / (n + 1) of the probability of the trial's own, as if
//   each category had been seen 2 / (n + 1) times before.
ProductMixture tpe_density(const TpeGroups& groups, const TpeGroups::Group& group,
                           const TpeSide& side, double prior_weight);

}  // namespace attune
