// What the completed trials of a study say about its parameters.
#include <fmt/format.h>

#include <algorithm>

#include "base/arguments.h"
#include "dispatcher/metrics.h"
#include "study/core.h"

namespace attune {
namespace {

constexpr const char* kBudget = "TRIAL_BUDGET";  // as the session writes a budget

}  // namespace

Result<Evidence> StudyCore::evidence(const std::string& metric) const {
  const std::string& wanted = metric.empty() ? objectives_.front().metric : metric;
  std::vector<std::string> names;
  for (const Objective& objective : objectives_) names.push_back(objective.metric);
  if (std::ranges::find(names, wanted) == names.end()) {
    const std::string near = nearest_name(wanted, names);
    return fail(fmt::format("metric: \"{}\" is no objective of the study{}", wanted,
                            near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
  }
  Evidence evidence{.space = space_, .points = {}, .results = {}};
  for (const auto& [id, trial] : trials_) {
    if (trial.record.state != TrialState::completed) continue;
    const auto result = finite_metric(trial.record.metrics, wanted);
    if (!result) continue;
    evidence.points.push_back(TRY(point_of(trial.record)));
    evidence.results.push_back(*result);
  }
  if (evidence.results.size() < 2) {
    return fail(
        fmt::format("importance needs 2 completed trials with a finite \"{}\", and there "
                    "{}; tell more results",
                    wanted, evidence.results.empty() ? "is none" : "is 1"));
  }
  return evidence;
}

// The point of a trial; without a search space what it has not asked for is inactive.
Result<Point> StudyCore::point_of(const StudyTrial& trial) const {
  if (!grows()) {
    json parameters = trial.parameters;
    const auto is_budget = [](const Param& param) { return param.name == kBudget; };
    if (parameters.is_object() && std::ranges::none_of(space_.params, is_budget)) {
      parameters.erase(kBudget);
    }
    return tuner_.point_from(space_, parameters);
  }
  const json whole = completed(trial.id, json::object(), declared_, space_);
  Point point = TRY(point_from_json(space_, whole));
  bool asked = true;
  for (std::size_t i = 0; i < space_.params.size(); ++i) {
    const Param& param = space_.params[i];
    if (!param.condition) asked = trial.parameters.contains(param.name);
    if (!asked) point.values[i] = Point::kInactive;
  }
  return point;
}

}  // namespace attune
