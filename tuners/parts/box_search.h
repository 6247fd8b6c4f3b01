#pragma once
// Maximises an acquisition in a box around a centre, in a mixed, nested space.
//
// Each candidate is the centre with some of its parameters changed (Regis, Shoemaker, "Combining
// Radial Basis Function Surrogates and Dynamic Coordinate Search", 2013). Each active parameter
// changes with probability min(1, 20 / active parameters); reals and integers move to anywhere in
// the box. The best few candidates climb inside of the box. Categories have no notion of a box:
// instead a share of those that would change does so, but on average at least one. After the climb,
// a sweep tries the other values of one category after the other, and keeps what is better (Wan et
// al., "Think Global and Act Local: Bayesian Optimisation over High-Dimensional Categorical and
// Mixed Search Spaces", ICML 2021).
#include <span>
#include <vector>

#include "base/rng.h"
#include "space/features.h"
#include "space/space.h"
#include "tuners/parts/acquisition_search.h"

namespace attune {

struct SearchBox {
  Point centre;
  std::vector<double> sides;  // of each dimension of Features; unused for categories
  double share = 1;           // of the chosen categories that do change, in (0, 1]
};

struct BoxSearchSettings {
  int candidates = 500;
  int climbs = 4;        // best candidates that climb
  int evaluations = 20;  // of each climb
};

// Returns the best points first, all different, without the centre. Points that break a hard
// constraint are left out, so the result may be empty.
std::vector<Found> search_box(const Space& space, const Features& features,
                              const Acquisition& acquisition, const SearchBox& box,
                              const BoxSearchSettings& settings, Rng& rng);

// The sides of a box that is long where the model's length scales are long: `length` times each
// length scale, divided by the geometric mean of all of them. `log_weights` has the logarithms of
// the inverse squared length scales (KernelParameters). The side of a category is 0.
std::vector<double> box_sides(const Features& features, std::span<const double> log_weights,
                              double length);

}  // namespace attune
