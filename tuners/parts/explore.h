#pragma once
// How population based training changes a configuration: the rules of Ray Tune, Syne Tune and NNI.
//
// Each parameter is changed by itself, in the order of the space. A parameter that becomes active,
// because a nested choice has changed, is drawn. All results lie in the space: numbers are clipped
// to the bounds of their domains, which Ray does not do. A result that breaks a constraint is made
// again, fifty times at most; then it is the configuration itself.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "space/space.h"

namespace attune {

struct Explored {
  Point point;
  std::vector<std::string> changes = {};  // for a human: "lr * 1.2", "bs shift left (noop)"
};

// Whose state and configuration a trial copies: its result at its last judgement.
struct Donor {
  std::string_view attribute;  // the metric that says how much a trial has trained
  double resource = 0;
  std::string result;
  std::size_t rank = 0, of = 0;  // the best has rank 1
};
// For a human: "copies the trial with 0.5 at epoch 10, rank 1 of 8; lr * 1.2: {"lr":0.12}"
std::string copies_text(const Space& space, const Donor& donor, const Explored& explored);

// Which parameters may change; one for each of the space.
using Mutable = std::vector<bool>;

// The parameters with these names or paths, separated by commas. An error names one that the space
// does not have.
Result<Mutable> mutable_parameters(const Space& space, const std::string& names);

// Ray Tune (pbt.py, `_explore`). With `resample_probability` a parameter is drawn again. Otherwise
// numbers are multiplied by one of the factors, integers truncated afterwards, and choices take the
// candidate before or after the present one. Of a subset one candidate is exchanged for another.
struct RayExplore {
  std::vector<double> factors = {1.2, 0.8};  // at least one
  double resample_probability = 0.25;
};
Explored explore_as_ray(const Space& space, const Mutable& which, const Point& point,
                        const RayExplore& rule, Rng& rng);

// Syne Tune 0.13 (pbt.py, `_explore`). As Ray, but choices and subsets are always drawn again.
Explored explore_as_syne(const Space& space, const Mutable& which, const Point& point,
                         const RayExplore& rule, Rng& rng);

// NNI (pbt_tuner.py, `perturbation`). With `resample_probability` a parameter is drawn again.
// Otherwise it makes one step up or down: to the next candidate or integer, by q, or by `factor`
// times the range (of normals: sigma), on the logarithmic scale for logarithmic domains.
struct NniExplore {
  double factor = 0.2;
  double resample_probability = 0.25;
};
Explored explore_as_nni(const Space& space, const Point& point, const NniExplore& rule, Rng& rng);

// A draw from the space that breaks no constraint, if a hundred draws find one.
Point feasible_sample(const Space& space, Rng& rng);

}  // namespace attune
