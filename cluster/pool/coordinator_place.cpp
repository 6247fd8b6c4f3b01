// The collectors of a commander never end by themselves, and fill the workers. An evaluation, or a
// learner that has lost its worker, would wait for ever. So collectors give up places: as few as
// suffice, on one worker at a time, which is kept free for the waiting task until the places are
// free.
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

// Chooses the worker where the fewest tasks have to end. Tasks that were told to end already do not
// count, so the choice stays the same while they end.
void Coordinator::make_place(const TaskSpec& waits, double now) {
  const Task& task = *board_.find(waits.id);
  if (task.state != TaskState::queued) return;  // an earlier call got it a place
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

// Returns the tasks that must end (newest first) so that `waits` has room on the worker, given that
// closing tasks end anyway. Absent: even if all that yield end there is no room, or the worker is
// kept free for another task that does not yield.
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
  // Spares those whose resources the waiting task does not need: a collector without a GPU frees
  // none.
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
