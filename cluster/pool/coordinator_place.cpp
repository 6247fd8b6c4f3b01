// Places for what is due. The collectors of a commander never end by themselves, and fill the
// workers: an evaluation, or a learner that lost its worker, would wait for ever. They give places
// back, as few as will do, one worker at a time, and that worker is kept for the task meanwhile.
#include <fmt/format.h>

#include <algorithm>

#include "cluster/pool/coordinator.h"

namespace attune {

void Coordinator::make_places(double now) {
  std::vector<const Task*> due;
  queue_.for_each_line([&](const TaskSpec& first, std::size_t) {
    const Task* task = board_.find(first.id);
    if (owns(*task) && !yields(*task)) due.push_back(task);
  });
  std::ranges::sort(due, {}, &Task::order);
  for (const Task* task : due) make_place(task->spec, now);
}

// On the worker where the fewest have to end. It stays the same one while they do: those that have
// been told cost nothing.
void Coordinator::make_place(const TaskSpec& waits, double now) {
  const Task& task = *board_.find(waits.id);
  if (task.state != TaskState::queued) return;  // it was like one that has just got its place
  Worker* best = nullptr;
  std::vector<Task*> fewest;
  for (const auto& [id, worker] : workers_.workers()) {
    auto given = to_give_back(worker, waits);
    if (!given || (best != nullptr && given->size() >= fewest.size())) continue;
    best = workers_.find(id);
    fewest = *std::move(given);
  }
  if (best == nullptr) return;
  if (!best->kept_for || best->kept_for->id != waits.id) {
    give_room_back(waits.id, now);
    if (best->kept_for) kept_.erase(best->kept_for->id);
    best->kept_for = waits;
    kept_[waits.id] = best->hello.id;
  }
  for (Task* each : fewest)
    close(*each, kFinish, fmt::format("{} needs its place", waits.id), false, now);
  fill(best->hello.id, now);
}

// The collectors of the worker, the newest first, without which the task has room there, when what
// was told to end has ended. Absent: not even without all of them, or it is kept for another one.
std::optional<std::vector<Task*>> Coordinator::to_give_back(const Worker& worker,
                                                            const TaskSpec& waits) {
  if (worker.state != WorkerState::ready || !may_have(worker, waits)) return std::nullopt;
  if (worker.kept_for && worker.kept_for->id != waits.id) {
    const Task* other = board_.find(worker.kept_for->id);
    if (other != nullptr && !yields(*other)) return std::nullopt;
  }
  Worker left = worker;
  left.kept_for.reset();
  std::vector<Task*> collectors, given;
  for (const std::string& id : worker.tasks) {
    Task* task = board_.find(id);
    if (task->state == TaskState::closing) {
      remove_task(left, task->spec);
    } else if (yields(*task)) {
      collectors.push_back(task);
    }
  }
  std::ranges::sort(collectors, std::greater(), &Task::order);
  for (Task* each : collectors) {
    if (fits(left, waits)) break;
    remove_task(left, each->spec);
    given.push_back(each);
  }
  if (!fits(left, waits)) return std::nullopt;
  // Some may have nothing of what it lacks.
  std::erase_if(given, [&](const Task* each) {
    Worker with = left;
    add_task(with, each->spec);
    if (!fits(with, waits)) return false;
    left = std::move(with);
    return true;
  });
  return given;
}

}  // namespace attune
