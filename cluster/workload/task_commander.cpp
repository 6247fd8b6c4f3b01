#include "cluster/workload/task_commander.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/saved_numbers.h"
#include "cluster/workload/reports.h"

namespace attune {
namespace {

std::string buffer_of(const std::string& learner) { return learner + "-buffer"; }

// 31 bits: some generators of programs take no more.
std::int64_t seed_from(Rng rng) { return static_cast<std::int64_t>(rng() >> 33); }

}  // namespace

TaskCommander::TaskCommander(CommonSettings settings, std::uint64_t seed)
    : settings_(std::move(settings)), seed_(seed) {}

// ---- tasks

std::string TaskCommander::id_of_next(TaskKind kind) const {
  return fmt::format("{}-{}-{}", settings_.run, to_text(kind), tasks_.number(kind));
}

std::string TaskCommander::policy_of(const std::string& learner) const {
  return settings_.policies + "/" + learner;
}

Rng TaskCommander::rng(TaskKind kind) const {
  return Rng(seed_).fork(fmt::format("{} {}", to_text(kind), tasks_.number(kind)));
}

TaskSpec TaskCommander::learner_task() const {
  const std::string id = id_of_next(TaskKind::learn);
  json parameters = {{"task", id},
                     {"buffer", buffer_of(id)},
                     {"policy", policy_of(id)},
                     {"seed", seed_from(rng(TaskKind::learn))}};
  if (!settings_.coordinator.empty()) parameters["coordinator"] = settings_.coordinator;
  TaskSpec spec = task_of(settings_.learner, id, to_text(TaskKind::learn), parameters);
  spec.owns.push_back({buffer_of(id), settings_.buffer});
  spec.uses.push_back(buffer_of(id));
  return spec;
}

TaskSpec TaskCommander::playing_task(TaskKind kind, const TaskRole& role,
                                     const std::string& learner, const json& more) const {
  const std::string id = id_of_next(kind);
  json parameters = {{"task", id}, {"learner", learner}};
  if (kind == TaskKind::collect) parameters["buffer"] = buffer_of(learner);
  parameters["policy"] = policy_of(learner);
  parameters["evaluate"] = kind == TaskKind::evaluate;
  parameters["seed"] = seed_from(rng(kind));
  if (!settings_.coordinator.empty()) parameters["coordinator"] = settings_.coordinator;
  parameters.update(more);
  TaskSpec spec = task_of(role, id, to_text(kind), parameters);
  if (kind == TaskKind::collect) spec.uses.push_back(buffer_of(learner));
  return spec;
}

std::vector<std::vector<TaskSpec>> TaskCommander::with_learners(int learners,
                                                                const TaskRole* evaluation) const {
  std::vector<std::vector<TaskSpec>> lists;
  const auto add = [&](TaskKind kind, const TaskRole& role) {
    std::vector<TaskSpec>& list = lists.emplace_back();
    for (int i = 0; i < learners; ++i) {
      list.push_back(settings_.learner.common);
      list.back().kind = to_text(TaskKind::learn);
      list.back().id = fmt::format("learner {}", i + 1);
    }
    list.push_back(role.common);
    list.back().kind = to_text(kind);
    list.back().id = kind == TaskKind::collect ? "a collector" : "an evaluation";
  };
  if (evaluation != nullptr) add(TaskKind::evaluate, *evaluation);
  add(TaskKind::collect, settings_.collector);
  return lists;
}

bool TaskCommander::wants_collector() const {
  const int live = tasks_.count(TaskKind::collect);
  if (live < settings_.collectors.least) return true;
  return live < settings_.collectors.most && tasks_.waiting(TaskKind::collect) == 0;
}

// ---- what it is told

// When workers leave, several collectors may wait. One of them is enough to ask for room, so the
// newest others are superfluous.
std::string TaskCommander::superfluous() const {
  for (const LiveTask& each : tasks_.live()) {
    if (!each.told && tasks_.is_superfluous(each)) return each.id;
  }
  if (tasks_.waiting(TaskKind::collect) < 2 ||
      tasks_.count(TaskKind::collect) <= settings_.collectors.least)
    return "";
  const auto& live = tasks_.live();
  return std::find_if(
             live.rbegin(), live.rend(),
             [](const LiveTask& each) { return each.kind == TaskKind::collect && each.waits; })
      ->id;
}

void TaskCommander::created(const Task& task) { tasks_.created(task); }

void TaskCommander::on_info(const Task& task, const json& info) {
  LiveTask* live = tasks_.find(task.spec.id);
  const auto report = report_of(info);
  if (live == nullptr || !report || tasks_.decided()) return;
  if (live->kind != TaskKind::learn) {
    if (!report->final || live->reported) return;
    live->reported = true;
  }
  reported(*live, report->value);
}

bool TaskCommander::retry(const Task& task, TaskState /*end*/, const std::string& /*cause*/) const {
  for (const LiveTask& each : tasks_.live()) {
    if (each.id == task.spec.id) return !each.told && !tasks_.is_superfluous(each);
  }
  return false;
}

void TaskCommander::ended(const Task& task) {
  const LiveTask* live = tasks_.find(task.spec.id);
  if (live == nullptr) return;
  const TaskKind kind = live->kind;
  tasks_.ended(task);
  if (tasks_.decided()) return;
  if (tasks_.failures(kind) >= settings_.failures) {
    tasks_.decide(fmt::format("{} tasks {} in a row have failed, the last one is {}: {}",
                              tasks_.failures(kind), to_text(kind), task.spec.id, task.cause));
  } else if (kind == TaskKind::learn) {
    learner_ended(task);
  }
}

// ---- saving

json TaskCommander::save() const {
  return {{"commander", settings_.name}, {"tasks", tasks_.save()}, {"own", save_own()}};
}

Result<void> TaskCommander::load(const json& state) {
  const std::string name = TRY(text_at(state, "commander"));
  if (name != settings_.name)
    return fail(fmt::format("it is of the commander {}, not of {}", name, settings_.name));
  auto tasks = RunTasks::load(TRY(object_at(state, "tasks")));
  if (!tasks) return fail("tasks: " + tasks.error().message);
  TRY(load_own(TRY(object_at(state, "own"))));
  tasks_ = *std::move(tasks);
  return {};
}

}  // namespace attune
