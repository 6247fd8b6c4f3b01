#pragma once
// The commander `solo`: one learner with one buffer, collectors for it, and now and then an
// evaluation, which tells when all is done. After DI-engine's SoloCommander. one_vs_one is one that
// also says against whom is played.
#include <optional>
#include <string>

#include "cluster/workload/task_commander.h"

namespace attune {

struct EvaluationSettings {
  TaskRole role;
  double interval = 0;  // in seconds, from the creation of one to that of the next
  std::optional<double> stop_value;
  std::string metric;
};

// What the arguments of these are called.
std::vector<Argument> evaluation_arguments();
// Of what resolve_settings gave with them. Absent: there are no evaluations.
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
  // More parameters of the next task of that kind; null: there is to be none now. Which it is may
  // change with what is reported only.
  virtual json more_parameters(TaskKind kind) const;
  void reported(const LiveTask& task, const json& value) override;
  json save_own() const override;
  Result<void> load_own(const json& state) override;

  // Whether an evaluation that has reported this may end the run.
  bool reaches_stop_value(const json& value) const;

 private:
  // When the next evaluation is due, not before the last has ended. Infinite: it waits for
  // something to happen.
  double evaluation_time() const;
  void learner_ended(const Task& task) final;

  const std::optional<EvaluationSettings> evaluation_;
  std::optional<double> evaluated_;  // when the newest was created; seconds since 1970-01-01 UTC
};

}  // namespace attune
