#pragma once
// How evolutionary tuners vary a configuration.
#include "base/rng.h"
#include "space/dedup.h"
#include "space/space.h"

namespace attune {

// `parent` with one active parameter, drawn uniformly, drawn again, and with it what depends on it
// if it is a nested choice. The first of fifty such that is another point, was not proposed and
// breaks no constraint; in a space that is nearly used up there may be none, then the last.
Point mutated(const Space& space, const Deduplicator& dedup, const Point& parent, Rng& rng);

}  // namespace attune
