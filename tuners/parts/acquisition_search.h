#pragma once
// Maximises an acquisition over a mixed, nested space: candidates drawn from the space and around
// good points are ranked, the best of them climb: by the gradient over positions, by trying other
// categories (of very many a random part) and neighbouring levels over the rest, in turns. Where
// there is no gradient, `exchanges` try other positions one parameter at a time, too.
#include <functional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "space/features.h"
#include "space/space.h"

namespace attune {

// What is maximised, of encoded points (space/features.h).
struct Acquisition {
  // count x dimensions numbers, row by row -> count values.
  std::function<std::vector<double>(std::span<const double> rows)> values;
  // With the derivatives by positions. Empty: there are none (trees).
  std::function<double(std::span<const double> row, std::span<double> gradient)> climb;
};

struct SearchSettings {
  int candidates = 500;  // drawn from the space
  int neighbours = 100;  // drawn around the good points
  int climbs = 4;        // candidates that climb
  int rounds = 2;        // of gradient and sweep
  int evaluations = 20;  // of each gradient climb
  int exchanges = 0;     // random neighbours of a continuous position that a sweep tries
};

struct Found {
  Point point;
  double value = 0;
};

// The best first, all different. `good`: points to look around. Points that break a hard constraint
// are left out, so that nothing may be found.
std::vector<Found> search_acquisition(const Space& space, const Features& features,
                                      const Acquisition& acquisition, std::span<const Point> good,
                                      const SearchSettings& settings, Rng& rng);

}  // namespace attune
