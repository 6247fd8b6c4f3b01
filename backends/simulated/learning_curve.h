#pragma once
// The source of the results of simulated trials.
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// Epochs count from 1; epoch e has index e - 1. At least one epoch.
struct SimulatedCurve {
  std::vector<double> values;   // the metric after each epoch; may be NaN where training diverged
  std::vector<double> seconds;  // how long each epoch takes, >= 0; as many as values

  int epochs() const { return static_cast<int>(values.size()); }
};

// Immutable: the same question has the same answer.
class CurveSource {
 public:
  virtual ~CurveSource() = default;
  // The curve of `parameters` (an object, as proposed); `sequence` counts the trials from 0.
  virtual Result<SimulatedCurve> curve(const json& parameters, std::int64_t sequence) const = 0;
  virtual std::string description() const = 0;  // one line, for logs
};

}  // namespace attune
