#pragma once
// What the commanders have in common: they make learners with a buffer each and tasks for a
// learner, and remember those that are live. A commander says what is next, and decides when all is
// done. From then on nothing is created and what is live is told to finish; with the last of it
// the run is done.
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
  // The finish is left to superfluous(), which also a coordinator says that was killed in between.
  void on_info(const Task& task, const json& info) final;
  // Collectors do: learners and evaluations are what they are for.
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

  // Whether there is to be another collector: fewer than the least are live; or fewer than the
  // most, and none of them waits: so there are as many as the workers have room for, and one that
  // waits for more room.
  bool wants_collector() const;
  // What together() says of `learners` learners and a task of each other role.
  std::vector<std::vector<TaskSpec>> with_learners(int learners, const TaskRole* evaluation) const;
  TaskSpec learner_task() const;
  // With {"task", "learner", "policy", "evaluate", "seed"}, which `more` adds to. A collector also
  // has the buffer of its learner.
  TaskSpec playing_task(TaskKind kind, const TaskRole& role, const std::string& learner,
                        const json& more) const;
  // Of the next task of that kind, the same as often as it is asked for.
  Rng rng(TaskKind kind) const;
  std::string policy_of(const std::string& learner) const;

  // What a live task reports, FINAL ones of collectors and evaluations only, and of each the first
  // only. Nothing is decided yet.
  virtual void reported(const LiveTask& task, const json& value) = 0;
  // Nothing is decided yet, and the failures have been looked at.
  virtual void learner_ended(const Task& task) = 0;
  virtual json save_own() const = 0;
  virtual Result<void> load_own(const json& state) = 0;  // all or nothing

  const CommonSettings settings_;
  RunTasks tasks_;

 private:
  std::string id_of_next(TaskKind kind) const;

  const std::uint64_t seed_;
};

}  // namespace attune
