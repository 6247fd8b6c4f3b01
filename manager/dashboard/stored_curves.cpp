#include "manager/dashboard/stored_curves.h"

#include <utility>

#include "manager/interchange/learning_curve.h"

namespace attune {

StoredCurves::StoredCurves(const StoredExperiment& experiment, std::string metric)
    : experiment_(exported_experiment(experiment)), metric_(std::move(metric)) {}

std::vector<PlotPoint> StoredCurves::curve_of(const StoredTrial& trial) const {
  const bool first = metric_ == experiment_.stored.objective().metric;
  std::vector<PlotPoint> points;
  for (const LearningPoint& point : learning_curve(trial, experiment_))
    if (const auto value = reported_value(point.metric, metric_, first))
      points.push_back({static_cast<double>(point.step), *value});
  return points;
}

Result<std::vector<PlotPoint>> StoredCurves::curve(StoreReader& reader, std::int64_t trial) const {
  return curve_of(TRY(reader.whole_trial(experiment_.stored, std::to_string(trial))));
}

Result<std::vector<std::vector<PlotPoint>>> StoredCurves::sample(StoreReader& reader,
                                                                 std::size_t most) const {
  const auto total = static_cast<std::size_t>(TRY(reader.next_sequence(experiment_.stored)));
  std::vector<std::vector<PlotPoint>> curves;
  const std::size_t count = std::min(total, most);
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = std::to_string(i * total / count);
    // A number may be missing: a trial that was never stored.
    const auto trial = reader.whole_trial(experiment_.stored, number);
    if (!trial) continue;
    auto points = curve_of(*trial);
    if (!points.empty()) curves.push_back(std::move(points));
  }
  return curves;
}

}  // namespace attune
