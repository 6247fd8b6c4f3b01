#pragma once
// NNI's two assessors, as NNI 2.7 behaves, faults included: what ours are compared with. They were
// written from a description of the behaviour. Least squares is MINPACK's lmdif, which scipy's
// curve_fit calls, in Eigen's translation with the same tolerances. NNI draws from numpy's
// generator, this from `Rng`.
#include <memory>
#include <span>

#include "base/rng.h"

namespace attune {

class OriginalAssessor {
 public:
  virtual ~OriginalAssessor() = default;
  virtual bool keeps(int trial, std::span<const double> history) = 0;
  virtual void trial_end(int trial, bool completed) = 0;
};

std::unique_ptr<OriginalAssessor> original_medianstop(bool maximize);

// epoch_num 20, start_step 6, threshold 0.95, gap 1. Knows only how to maximise.
std::unique_ptr<OriginalAssessor> original_curvefitting(Rng rng);

}  // namespace attune
