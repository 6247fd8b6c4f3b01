#pragma once
// Results of elsewhere, or of a former search space, in the present one.
#include "base/result.h"
#include "space/space.h"
#include "tuners/tuner.h"

namespace attune {

// What a result lacks whose parameters were fewer.
enum class Missing {
  // Drawn from what is declared, by the other parameters alone: equal ones get equal values, many
  // ones all values, so that a model learns nothing of it. For trials that run, whose points are to
  // be whole. Not in a finite space, where the point would count as tried.
  drawn,
  // A gap, where the tuner takes them: for results. Of 30 results on three parameters and 30 more
  // after a fourth came, over 20 seeds and three functions, the best after it is better than with
  // drawing for SMAC on all three (of the sphere 0.017 and 0.066), for GP on two (0.009 and 0.024)
  // and as good on the third; for TPE better on one (0.036 and 0.045, 1000 seeds) and worse by 1 %
  // and 3 % on the others, but it has the results of finite spaces, too.
  open,
};

// As tuner.point_from(), but up to half of the parameters at the top of the space may be missing:
// they were not parameters then, so the result says nothing of them.
//
// Not where a value is outside of the space, or of no parameter of it: errors name the path.
Result<Point> carried_point(const Tuner& tuner, const Space& space, const json& parameters,
                            Missing missing);

}  // namespace attune
