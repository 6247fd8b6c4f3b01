#pragma once
// What is worth most for its cost: that a trial goes on to its next level, or that a new
// configuration starts. By the knowledge gradient: tuners/freeze_thaw.cpp names the sources.
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "space/features.h"
#include "space/space.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/curve_model.h"

namespace attune {

// For each configuration the target that the model expects of its full training, and its number in
// the model; ascending, so the best comes first.
using CurveEnds = std::vector<std::pair<double, std::size_t>>;
// Of the configurations in `some`; their first members are ignored. O(size d) each.
CurveEnds expected_ends_of(const CurveModel& model, CurveEnds some);

// A configuration may be trained up to a level.
struct CurveOption {
  std::optional<std::size_t> number;  // in the model; nothing: a new one
  std::vector<double> row;            // of a new one, encoded
  std::size_t until = 0;
  double cost = 1;  // above 0: resource up to there
};
// The logarithm of what each option is worth: by how much the lowest expected end is expected to
// fall once the result is known, divided by a power of the cost. `ends` must not be empty.
std::vector<double> gains(const CurveModel& model, std::span<const CurveOption> options,
                          const CurveEnds& ends);

// What new configurations are looked for.
struct CurveSearch {
  std::span<const Point> good = {};  // it looks around these, too
  double best = 0;                   // the target on which they are to improve
  double doubt = 1;  // the deviations of the model count so many times: more explores more
};
// Configurations whose full training promises an improvement; the best first.
std::vector<Found> new_curves(const CurveModel& model, const Space& space, const Features& features,
                              const CurveSearch& sought, Rng& rng);

}  // namespace attune
