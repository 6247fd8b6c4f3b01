#pragma once
// How much a search trusts what the user believes (space/prior.h).
//
// Source: Hvarfner et al., "piBO: Augmenting Acquisition Functions with User Beliefs for Bayesian
// Optimization" (ICLR 2022): the acquisition is multiplied by the prior to the power beta / n, so
// that the prior rules at first and results rule in the end. piBO has no defence against a prior
// that misleads, except that it fades. As in DynaBO (2025) such a prior is rejected here, but by
// the results themselves and not by a model of them. Random points are not drawn from the prior:
// the first trial and the acquisition find as much without that, and a bad prior costs less.
#include <cstddef>

#include "space/prior.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/history.h"

namespace attune {

// The power, or 0 if there is no prior, or the results speak against it: the points that it prefers
// are the worse ones, by rank correlation. `since`: results that are older than the prior.
// Costs O(n log n) for n results, and O(n^2) with more than two objectives.
double prior_belief(const Priors& priors, const History& history, std::size_t since);

// The acquisition, a logarithm, plus `power` times the logarithm of the prior. The priors must
// outlive the result.
Acquisition times_prior(Acquisition acquisition, const Priors& priors, double power);

}  // namespace attune
