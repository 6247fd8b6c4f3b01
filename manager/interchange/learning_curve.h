#pragma once
// The intermediate results of a trial as the tuner heard of them.
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "manager/interchange/exporter.h"

namespace attune {

struct LearningPoint {
  std::int64_t step = 0;  // from 0; goes on where a later attempt starts from a checkpoint
  double time = 0;        // seconds since 1970-01-01 UTC
  json metric;            // as reported: a bare number, or an object of metrics
};

// Ascending steps. Of two results for one step the later one counts: its attempt started again.
std::vector<LearningPoint> learning_curve(const StoredTrial& trial,
                                          const ExportedExperiment& experiment);

}  // namespace attune
