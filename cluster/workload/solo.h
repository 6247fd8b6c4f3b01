#pragma once
// The commander `solo`: one learner with one buffer, collectors for it, and evaluations at
// intervals, whose results may end the run. After DI-engine's SoloCommander. The commander
// one_vs_one derives from it and adds opponents.
#include <optional>
#include <string>

#include "cluster/workload/task_commander.h"

namespace attune {

struct EvaluationSettings {
  TaskRole role;
  double interval = 0;  // seconds from the creation of one to that of the next, at least
  std::optional<double> stop_value;
  std::string metric;
};

// The arguments that evaluation_settings() reads.
std::vector<Argument> evaluation_arguments();
// `resolved` is the result of resolve_settings() with these arguments. Absent: there are no
// evaluations.
Result<std::optional<EvaluationSettings>> evaluation_settings(const json& resolved,
                                                              const CommonSettings& common);

class SoloCommander : public TaskCommander {
 public:
  SoloCommander(CommonSettings settings, std::optional<EvaluationSettings> evaluation,
                std::uint64_t seed);

  std::optional<TaskSpec> next(double now) const final;
  double next_time() const final;
  std::vector<std::vector<TaskSpec>> together() const final {
    return with_learners(1, evaluation_ ? &evaluation_->role : nullptr);
  }
  void created(const Task& task) final;

 protected:
  // Further parameters of the next task of that kind. Null, for evaluations only: none must be
  // created now. Only a report may change whether it is null.
  virtual json more_parameters(TaskKind kind) const;
  void reported(const LiveTask& task, const json& value) override;
  json save_own() const override;
  Result<void> load_own(const json& state) override;

  // Whether an evaluation that reports `value` reaches the stop value.
  bool reaches_stop_value(const json& value) const;

 private:
  // When the next evaluation is due, which is never while one is live. Infinite: only an event can
  // make one due.
  double evaluation_time() const;
  void learner_ended(const Task& task) final;

  const std::optional<EvaluationSettings> evaluation_;
  std::optional<double> evaluated_;  // when the newest was created; seconds since 1970-01-01 UTC
};

}  // namespace attune
