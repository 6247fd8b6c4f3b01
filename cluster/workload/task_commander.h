#pragma once
// The common part of all commanders: makes learners, with a buffer each, and tasks that work for a
// learner, and remembers the live tasks. A derived class says which task is next, and decides when
// the run is over. From then on no task is created, and live ones are told to finish. The run is
// done when the last of them has ended.
#include <cstdint>
#include <string>

#include "cluster/pool/commander.h"
#include "cluster/workload/run_tasks.h"
#include "cluster/workload/settings.h"

namespace attune {

class TaskCommander : public Commander {
 public:
  std::string superfluous() const final;
  void created(const Task& task) override;
  void moved(const Task& task) final { tasks_.moved(task); }
  // A report may decide the run, but superfluous() names the tasks that must finish. So a
  // coordinator that was killed in between tells them after its restart.
  void on_info(const Task& task, const json& info) final;
  // Collectors do: they work for learners and evaluations.
  bool yields(const Task& task) const final { return task.spec.kind == to_text(TaskKind::collect); }
  bool retry(const Task& task, TaskState end, const std::string& cause) const final;
  void told_to_finish(const Task& task) final { tasks_.told(task.spec.id); }
  void ended(const Task& task) final;
  bool done() const final { return tasks_.decided() && tasks_.live().empty(); }
  std::string failure() const final { return tasks_.failure(); }
  json save() const final;
  Result<void> load(const json& state) final;

 protected:
  TaskCommander(CommonSettings settings, std::uint64_t seed);

  // Whether another collector is wanted: fewer than the least are live, or fewer than the most and
  // none of them waits. So there are as many as the workers have room for, and one that waits for
  // more room.
  bool wants_collector() const;
  // The lists for together(): `learners` learners and one evaluation (unless `evaluation` is null);
  // the same learners and one collector.
  std::vector<std::vector<TaskSpec>> with_learners(int learners, const TaskRole* evaluation) const;
  TaskSpec learner_task() const;
  // A collector or an evaluation. Its parameters are {"task", "learner", "policy", "evaluate",
  // "seed"} and `more`. A collector also gets the buffer of its learner.
  TaskSpec playing_task(TaskKind kind, const TaskRole& role, const std::string& learner,
                        const json& more) const;
  // For the next task of that kind. Until that task is created every call returns the same.
  Rng rng(TaskKind kind) const;
  std::string policy_of(const std::string& learner) const;

  // A live task reported `value`, and the run is not decided yet. Called for every report of a
  // learner, but only for the first FINAL one of a collector or an evaluation.
  virtual void reported(const LiveTask& task, const json& value) = 0;
  // A learner has ended, and its failures in a row have not decided the run.
  virtual void learner_ended(const Task& task) = 0;
  virtual json save_own() const = 0;
  virtual Result<void> load_own(const json& state) = 0;  // on an error nothing has changed

  const CommonSettings settings_;
  RunTasks tasks_;

 private:
  std::string id_of_next(TaskKind kind) const;

  const std::uint64_t seed_;
};

}  // namespace attune
