#pragma once
// Learning curves made up from a search space: for tests, demonstrations and for measuring tuners
// and early stopping without training anything.
//
// Where training ends is a fixed landscape over the declared parameters: each has a best place of
// its own with a bump around it, neighbours in the space interact along a diagonal ridge, and their
// importances differ widely. Numbers are placed on the scale of their declared range, anything else
// by a hash of its text. Towards that end the loss falls from 1 by a power law,
//   loss(e) = end + (1 - end) * (1 + e / tau)^-alpha,
// whose speed differs between configurations, so that curves cross.
#include <cstdint>
#include <memory>

#include "backends/simulated/learning_curve.h"

namespace attune {

struct GeneratedCurvesOptions {
  json search_space;         // as Initialize carries it; undeclared parameters change nothing
  std::uint64_t seed = 0;    // of the landscape
  bool maximize = false;     // the metric is the loss, in (0, 1] but for noise; or 1 - loss
  int epochs = 81;           // from 1
  double noise = 0.01;       // standard deviation of what is added to each value, from 0
  double epoch_seconds = 1;  // geometric mean over configurations, from 0
  double seconds_ratio = 4;  // between the slowest and the fastest configuration, from 1
};

// Values have six decimals and seconds three: short to write, and the same on machines whose
// exponentials differ in the last digit. The curve depends on seed and configuration only.
std::unique_ptr<CurveSource> generated_curves(GeneratedCurvesOptions options);

}  // namespace attune
