#pragma once
// Learning curves that are computed from a search space: for tests, demonstrations, and measuring
// tuners and early stopping without any training.
//
// The final loss is a fixed landscape over the declared parameters. Each parameter has its own best
// place with a bump around it; neighbours in the space interact along a diagonal ridge; the
// importances of parameters differ widely. Numbers are placed on the scale of their declared range,
// everything else by a hash of its text. The loss falls from 1 towards the final loss by a power
// law,
//   loss(e) = end + (1 - end) * (1 + e / tau)^-alpha,
// whose speed differs between configurations, so that curves cross.
#include <cstdint>
#include <memory>

#include "backends/simulated/learning_curve.h"

namespace attune {

struct GeneratedCurvesOptions {
  json search_space;       // as Initialize carries it; undeclared parameters change nothing
  std::uint64_t seed = 0;  // of the landscape, the speeds and the noise
  bool maximize = false;   // false: the metric is the loss, in (0, 1] without noise; true: 1 - loss
  int epochs = 81;         // from 1
  double noise = 0.01;     // standard deviation of what is added to each value, from 0
  double epoch_seconds = 1;  // geometric mean over configurations, from 0
  double seconds_ratio = 4;  // between the slowest and the fastest configuration, from 1
};

// Values have six decimals and seconds three: they are short, and equal on machines whose
// exponentials differ in the last digit. A curve depends only on the options and the configuration.
std::unique_ptr<CurveSource> generated_curves(GeneratedCurvesOptions options);

}  // namespace attune
