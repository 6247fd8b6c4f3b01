#include "manager/interchange/learning_curve.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "manager/trials/trial_steps.h"
#include "manager/trials/tuning_status.h"
#include "protocol/codec.h"

namespace attune {
namespace {

std::optional<std::int64_t> steps_before(const StoredTrial& trial, const StoredAttempt& attempt) {
  const auto from =
      std::ranges::find(trial.checkpoints, attempt.from_checkpoint, &StoredCheckpoint::checkpoint);
  return from == trial.checkpoints.end() ? std::nullopt : std::optional(from->reports);
}

bool is_own(const StoredTrial& trial, const ParameterId& id) {
  const auto same = [&](const StoredParameter& each) { return each.proposed.parameter_id == id; };
  return id == trial.trial.proposed.parameter_id || std::ranges::any_of(trial.parameters, same);
}

}  // namespace

std::vector<LearningPoint> learning_curve(const StoredTrial& trial,
                                          const ExportedExperiment& experiment) {
  std::map<std::int64_t, LearningPoint> points;
  TrialSteps steps;
  auto report = trial.reports.begin();
  for (const StoredAttempt& attempt : trial.attempts) {
    steps.begin(steps_before(trial, attempt));
    for (; report != trial.reports.end() && report->attempt <= attempt.attempt; ++report) {
      if (report->type != "periodical") continue;
      const auto command = decode(Frame{"ME", report->text});
      const auto* metric = command ? std::get_if<ReportMetricData>(&*command) : nullptr;
      if (metric == nullptr || !is_own(trial, metric->parameter_id)) continue;
      const Metrics metrics = metrics_of(metric->value, experiment.stored.objective().metric);
      const std::int64_t step =
          steps.next(metric->sequence, iteration_of(metrics, experiment.fidelity));
      if (report->counts && !report->late) points[step] = {step, report->time, metric->value};
    }
  }
  std::vector<LearningPoint> curve;
  for (auto& [step, point] : points) curve.push_back(std::move(point));
  return curve;
}

}  // namespace attune
