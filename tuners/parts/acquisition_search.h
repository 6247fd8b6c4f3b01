#pragma once
// Maximises an acquisition over a mixed, nested space. It draws candidates from the space and
// around good points, ranks them, and improves the best few of them. In each round a point climbs
// by the gradient over its positions, and then a sweep replaces one parameter at a time: another
// category (of very many a random part is tried), or a neighbouring level. For models without a
// gradient, the sweep can also try `exchanges` other values of each continuous parameter.
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "space/branch.h"
#include "space/features.h"
#include "space/space.h"

namespace attune {

// The function to maximise, on encoded points (space/features.h).
struct Acquisition {
  // count x dimensions numbers, row by row -> count values.
  std::function<std::vector<double>(std::span<const double> rows)> values;
  // The value of one row; writes the derivatives by positions into `gradient`, which has the row's
  // size. Empty for a model without derivatives (trees).
  std::function<double(std::span<const double> row, std::span<double> gradient)> climb;
};

struct SearchSettings {
  int candidates = 500;               // drawn from the space
  int neighbours = 100;               // drawn around the good points
  int climbs = 4;                     // best candidates that are improved
  int rounds = 2;                     // of gradient and sweep, at most
  int evaluations = 20;               // of each climb by the gradient
  int exchanges = 0;                  // values of a continuous parameter that a sweep tries
  std::optional<Branch> within = {};  // all points that are looked at lie in it
};

struct Found {
  Point point;
  double value = 0;
};

// Returns the candidates and the improved points, the best first, all different. `good`: points to
// look around, the best first. Points that break a hard constraint are left out, so the result may
// be empty.
std::vector<Found> search_acquisition(const Space& space, const Features& features,
                                      const Acquisition& acquisition, std::span<const Point> good,
                                      const SearchSettings& settings, Rng& rng);

}  // namespace attune
