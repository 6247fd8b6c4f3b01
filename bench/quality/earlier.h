#pragma once
// Problems that stand for earlier experiments: copies of a problem, moved by a little or by much.
#include "base/rng.h"
#include "bench/quality/problem.h"

namespace attune::bench {

// How a copy differs from the problem.
//   related  each position is shifted by a few percent of its range, and one choice of seven has
//            two categories exchanged
//   foreign  each position is shifted by about half of its range, around its ends, and the
//            categories are shuffled: what is good there is bad here
enum class Kinship { related, foreign };

Problem copy_of(const Problem& problem, Kinship kinship, Rng rng);

}  // namespace attune::bench
