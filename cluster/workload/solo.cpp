#include "cluster/workload/solo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/saved_numbers.h"
#include "cluster/workload/factories.h"
#include "cluster/workload/reports.h"

namespace attune {

using enum Argument::Type;

std::vector<Argument> evaluation_arguments() {
  return {{.name = "evaluation", .type = object, .help = "interval, task"},
          {.name = "stop_value", .help = "of the metric with which all is done"},
          {.name = "metric",
           .type = text,
           .fallback = "reward_mean",
           .help = "in the FINAL report of an evaluation"}};
}

Result<std::optional<EvaluationSettings>> evaluation_settings(const json& resolved,
                                                              const CommonSettings& common) {
  const std::string& name = common.name;
  if (resolved["evaluation"].is_null()) {
    if (!resolved["stop_value"].is_null())
      return fail_at(name + ".stop_value", name + ".evaluation is wanted beside it");
    return std::nullopt;
  }
  const json evaluation = TRY(resolve_open(
      name + ".evaluation",
      {{.name = "interval", .fallback = 60, .help = "seconds", .low = 0.1, .high = 1e9},
       {.name = "task", .type = object, .help = "a role; that of the collectors"}},
      resolved["evaluation"]));
  EvaluationSettings settings;
  settings.interval = evaluation["interval"].get<double>();
  settings.role = common.collector;
  if (!evaluation["task"].is_null())
    settings.role = TRY(parse_role(name + ".evaluation.task", evaluation["task"]));
  // At least the collectors' priority, like the learner's (common_settings).
  settings.role.common.priority =
      std::max(settings.role.common.priority, common.collector.common.priority);
  if (!resolved["stop_value"].is_null()) settings.stop_value = resolved["stop_value"].get<double>();
  settings.metric = resolved["metric"].get<std::string>();
  return settings;
}

SoloCommander::SoloCommander(CommonSettings settings, std::optional<EvaluationSettings> evaluation,
                             std::uint64_t seed)
    : TaskCommander(std::move(settings), seed), evaluation_(std::move(evaluation)) {}

// There is one learner; when it has ended nothing follows. Evaluations come before collectors,
// which would take their place.
std::optional<TaskSpec> SoloCommander::next(double now) const {
  if (tasks_.decided()) return std::nullopt;
  if (tasks_.number(TaskKind::learn) == 1) return learner_task();
  const std::vector<const LiveTask*> learners = tasks_.learners();
  if (learners.empty()) return std::nullopt;
  const std::string& learner = learners.front()->id;
  if (evaluation_time() <= now)
    return playing_task(TaskKind::evaluate, evaluation_->role, learner,
                        more_parameters(TaskKind::evaluate));
  if (!wants_collector()) return std::nullopt;
  return playing_task(TaskKind::collect, settings_.collector, learner,
                      more_parameters(TaskKind::collect));
}

double SoloCommander::evaluation_time() const {
  const bool waits = !evaluation_ || tasks_.decided() || tasks_.learners().empty() ||
                     tasks_.count(TaskKind::evaluate) > 0 ||
                     more_parameters(TaskKind::evaluate).is_null();
  if (waits) return std::numeric_limits<double>::infinity();
  return evaluated_ ? *evaluated_ + evaluation_->interval
                    : -std::numeric_limits<double>::infinity();
}

// An evaluation that is due at once is no future event: next() has been asked for it.
double SoloCommander::next_time() const {
  const double time = evaluation_time();
  return std::isfinite(time) ? time : std::numeric_limits<double>::infinity();
}

void SoloCommander::created(const Task& task) {
  TaskCommander::created(task);
  if (task.spec.kind == to_text(TaskKind::evaluate)) evaluated_ = task.since;
}

json SoloCommander::more_parameters(TaskKind /*kind*/) const { return json::object(); }

bool SoloCommander::reaches_stop_value(const json& value) const {
  if (!evaluation_ || !evaluation_->stop_value) return false;
  const auto metric = metric_of(value, evaluation_->metric);
  return metric && *metric >= *evaluation_->stop_value;
}

void SoloCommander::reported(const LiveTask& task, const json& value) {
  if (task.kind == TaskKind::evaluate && reaches_stop_value(value)) tasks_.decide("");
}

void SoloCommander::learner_ended(const Task& task) {
  tasks_.decide(task.state == TaskState::succeeded
                    ? ""
                    : fmt::format("the learner {} has ended as {}: {}", task.spec.id,
                                  to_text(task.state), task.cause));
}

json SoloCommander::save_own() const {
  return {{"evaluated", evaluated_ ? json(*evaluated_) : json()}};
}

Result<void> SoloCommander::load_own(const json& state) {
  const json evaluated = TRY(value_at(state, "evaluated"));
  if (evaluated.is_null()) {
    evaluated_.reset();
    return {};
  }
  if (!evaluated.is_number() || !std::isfinite(evaluated.get<double>()))
    return fail("evaluated: a time is wanted");
  evaluated_ = evaluated.get<double>();
  return {};
}

Result<std::unique_ptr<Commander>> make_solo(const json& settings, std::uint64_t seed) {
  const json resolved = TRY(resolve_settings("solo", evaluation_arguments(), settings));
  CommonSettings common = TRY(common_settings("solo", resolved));
  auto evaluation = TRY(evaluation_settings(resolved, common));
  return std::make_unique<SoloCommander>(std::move(common), std::move(evaluation), seed);
}

}  // namespace attune
