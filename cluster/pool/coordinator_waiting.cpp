// Explains to people why tasks wait.
#include <fmt/format.h>

#include <algorithm>

#include "cluster/pool/coordinator.h"

namespace attune {

// Why no connected worker may have the task. Empty: one may have it, now or later, or a lost worker
// may when it comes back. Draining workers do not count.
std::string Coordinator::why_nobody(const TaskSpec& spec) const {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> obstacles;
  std::size_t here = 0;
  for (const auto& [id, worker] : workers_.workers()) {
    if (worker.state == WorkerState::draining) continue;
    const std::string obstacle = attune::obstacle(worker, spec);
    if (obstacle.empty()) return "";
    if (worker.state == WorkerState::lost) continue;
    if (++here <= kNamed) obstacles.push_back(fmt::format("{} {}", id, obstacle));
  }
  if (here == 0) return "there is no worker";
  if (!spec.worker.empty()) return fmt::format("its worker {} is not here", spec.worker);
  if (here > kNamed) obstacles.push_back(fmt::format("and {} more", here - kNamed));
  return fmt::format("no worker may have it: {}", fmt::join(obstacles, ", "));
}

// Places are made by ending tasks that yield. Where only other tasks run nothing is ended: with a
// learner that fills all workers alone, an evaluation waits as long as the learner lives. This
// function says so. Empty: there will be a place, or a lost worker may offer one.
std::string Coordinator::why_no_place(const Task& task) const {
  if (!owns(task) || yields(task)) return "";
  std::vector<std::string> full;
  for (const auto& [id, worker] : workers_.workers()) {
    if (worker.state == WorkerState::draining || !may_have(worker, task.spec)) continue;
    if (worker.state == WorkerState::lost) return "";
    Worker left = worker;
    left.kept_for.reset();
    for (const std::string& other : worker.tasks) {
      const Task& each = board_.tasks().at(other);
      if (each.state == TaskState::closing || yields(each)) remove_task(left, each.spec);
    }
    if (fits(left, task.spec)) return "";
    full.push_back(fmt::format("{} has {}", id, fmt::join(left.tasks, ", ")));
  }
  if (full.empty()) return "";
  return fmt::format("no worker has room beside what gives way to nobody: {}",
                     fmt::join(full, "; "));
}

std::string Coordinator::why_waiting(const Task& task) const {
  if (task.state != TaskState::queued) return "";
  if (pauses_.at(task.spec.id))
    return fmt::format("attempt {} begins {:g} s after the last one has failed: {}", task.attempt,
                       pause_before(task.attempt), task.cause);
  if (!task.waits_for.empty()) return task.waits_for;
  if (const std::string no_place = why_no_place(task); !no_place.empty()) return no_place;
  if (const auto kept = kept_.find(task.spec.id); kept != kept_.end())
    return fmt::format("worker {} is kept for it, and still has something else to do",
                       kept->second);
  const std::string nobody = why_nobody(task.spec);
  if (nobody.empty()) return "all workers that may have it are busy, or cannot be heard";
  return task.cause.empty() ? nobody : fmt::format("{}; {}", nobody, task.cause);
}

// After `tell_after` seconds (after `patience` if there is no worker at all) tells clients why
// their tasks wait: no worker may have them, or the workers run only tasks that yield to nobody.
// Says nothing of tasks that wait for a worker of their own, or of which the operator has said why
// they wait: the operator knows more.
double Coordinator::tell_obstacles(double now) {
  double next = std::numeric_limits<double>::infinity();
  queue_.for_each_line([&](const TaskSpec& first, std::size_t) {
    if (!first.worker.empty()) return;
    if (!board_.find(first.id)->waits_for.empty()) {
      next = std::min(next, now + options_.patience);
      return;
    }
    const double since = board_.find(first.id)->since;
    const bool nobody_yet = workers_.workers().empty();
    const double due = since + (nobody_yet ? options_.patience : options_.tell_after);
    if (due > now) {
      next = std::min(next, due);
      return;
    }
    const std::string nobody = why_nobody(first);
    const std::string obstacle = nobody.empty() ? why_no_place(*board_.find(first.id)) : nobody;
    queue_.for_each_like(first, [&](const TaskSpec& each) {
      Task& task = *board_.find(each.id);
      if (task.obstacle == obstacle) return;
      task.obstacle = obstacle;
      effects_.state_changed(task);
    });
  });
  return next;
}

}  // namespace attune
