#pragma once
// Results of elsewhere, or of a former search space, in the present one.
#include "base/result.h"
#include "space/space.h"
#include "tuners/tuner.h"

namespace attune {

// As tuner.point_from(), but up to half of the parameters at the top of the space may be missing:
// they were not parameters then, so the result says nothing of them. Their values are drawn
// from what is declared, by the other parameters alone: equal ones get equal values, many ones all
// values. A model so learns what the result tells of the other parameters.
//
// Not in a finite space, where the point would count as tried. Not where a value is outside of the
// space, or of no parameter of it: errors name the path.
Result<Point> carried_point(const Tuner& tuner, const Space& space, const json& parameters);

}  // namespace attune
