#pragma once
// Learning curves of stored trials, for pictures.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/curves.h"
#include "manager/interchange/exporter.h"
#include "manager/store/store_reader.h"

namespace attune {

// What a picture has room for: points of a curve and of the band, trials of which the band is made.
inline constexpr std::size_t kCurvePoints = 400, kBandPoints = 100, kBandTrials = 200;

// The value of one metric over the steps of a trial. Immutable.
class StoredCurves {
 public:
  StoredCurves(const StoredExperiment& experiment, std::string metric);

  // Empty: the trial has reported nothing of the metric. Error: there is no such trial.
  Result<std::vector<PlotPoint>> curve(StoreReader& reader, std::int64_t trial) const;
  // The curves of at most `most` trials, evenly spread over all, that have at least one point.
  Result<std::vector<std::vector<PlotPoint>>> sample(StoreReader& reader, std::size_t most) const;

 private:
  std::vector<PlotPoint> curve_of(const StoredTrial& trial) const;

  ExportedExperiment experiment_;
  std::string metric_;
};

}  // namespace attune
