#pragma once
// Maximises an acquisition in a box around a centre, in a mixed, nested space.
//
// Candidates are the centre with some of its parameters changed (Regis, Shoemaker, "Combining
// Radial Basis Function Surrogates and Dynamic Coordinate Search", 2013): each with probability
// min(1, 20 / active ones), reals and integers to anywhere in the box; the best few climb inside of
// it. Categories have no box: of those that are to change a share does, but at least one on
// average.
#include <span>
#include <vector>

#include "base/rng.h"
#include "space/features.h"
#include "space/space.h"
#include "tuners/parts/acquisition_search.h"

namespace attune {

struct SearchBox {
  Point centre;
  std::vector<double> sides;  // of each dimension of Features; of categories they do not count
  double share = 1;           // of categories that change, in (0, 1]
};

struct BoxSearchSettings {
  int candidates = 500;
  int climbs = 4;
  int evaluations = 20;  // of each climb
};

// The best first, all different and other than the centre. Points that break a hard constraint are
// left out, so that nothing may be found.
std::vector<Found> search_box(const Space& space, const Features& features,
                              const Acquisition& acquisition, const SearchBox& box,
                              const BoxSearchSettings& settings, Rng& rng);

// `length` times the length scales of positions, given as logarithms of their inverse squares
// (KernelParameters) and divided by their geometric mean. Of categories 0.
std::vector<double> box_sides(const Features& features, std::span<const double> log_weights,
                              double length);

}  // namespace attune
