#pragma once
// Mutation of configurations, for evolutionary tuners.
#include "base/rng.h"
#include "space/dedup.h"
#include "space/space.h"

namespace attune {

// A copy of `parent` with one active parameter drawn again; all active parameters are equally
// likely to be chosen. If it is a nested choice, the parameters that depend on it are drawn again
// too. Repeats this up to fifty times until the result differs from the parent, was not proposed
// before and breaks no constraint. In a nearly used-up space there may be no such point; then it
// returns the last one.
Point mutated(const Space& space, const Deduplicator& dedup, const Point& parent, Rng& rng);

}  // namespace attune
