#pragma once
// Which dimensions the prediction of a forest depends on: functional analysis of variance.
//
// Source: Hutter, Hoos, Leyton-Brown, "An Efficient Approach for Assessing Hyperparameter
// Importance" (ICML 2014), section 4. There each tree is analysed by itself. Here it is the forest,
// whose marginals are the means of those of its trees: what the trees do not agree about is mostly
// noise, and cancels.
#include <functional>
#include <span>
#include <vector>

#include "math/trees/forest.h"

namespace attune {

// How the values of a dimension are distributed.
struct Axis {
  std::vector<double> weights = {};  // of each category; they add up to 1
  // Of a position: the probability of at most it, in [0, 1]. Empty: uniform in [0, 1].
  std::function<double(double position)> probability_up_to = {};
};

// The probability of at most this position: 0 up to 0, 1 from 1 on.
double probability_up_to(const Axis& axis, double position);

// For each dimension the variance of its marginal: of what the forest predicts for a value of this
// dimension, averaged over the values of all others. Exact: from the leaves, not from a sample. The
// dimensions are independent, and none is inactive. `axes`: one for each dimension of `forest`,
// which is fitted. With l leaves in all, each below d splits, this costs O(l d log(l)), and for
// each category of a dimension l more.
std::vector<double> marginal_variances(const Forest& forest, std::span<const Axis> axes);

}  // namespace attune
