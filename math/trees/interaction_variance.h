#pragma once
// What the prediction of a forest depends on only through two dimensions together: the pairs of
// functional analysis of variance. Source, and what is done otherwise: marginal_variance.h.
#include <span>
#include <vector>

#include "math/trees/marginal_variance.h"

namespace attune {

// For dimensions i < j element i * d + j, of d * d: the variance of what the forest predicts for
// values of both, averaged over the values of all others, beyond what each of them explains alone.
// The other elements are 0. Requirements as of marginal_variances().
//
// A position is divided into 60 cells of the same probability, and the prediction is averaged
// inside of them. So the result is at most the exact one; it is exact where all values of a
// position have probabilities that are multiples of 1/60.
//
// With l leaves in all, each bounded in k dimensions, it costs O(l k^2), and for categories as many
// times more as they have. Memory: a number for each two cells or categories of each pair.
std::vector<double> interaction_variances(const Forest& forest, std::span<const Axis> axes);

}  // namespace attune
