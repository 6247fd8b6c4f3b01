#pragma once
// Priors of a user who is right, wrong, or could not be more wrong.
#include <cstdint>
#include <string_view>

#include "bench/quality/problem.h"
#include "space/space.h"

namespace attune::bench {

// Gives each parameter that can have one a prior, as sure as a user who does not say how sure.
//   good    around the best point that a search without noise finds, missed by an error that fits
//   how
//           sure the user is; of the choices three of ten are drawn anew
//   random  around a random point
//   bad     around the worst of 1,000 random points
void believe(Space& space, const Problem& problem, std::string_view kind, std::uint64_t seed);

}  // namespace attune::bench
