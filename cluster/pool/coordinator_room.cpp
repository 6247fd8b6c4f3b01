// Reserves workers for large tasks.
#include <algorithm>

#include "cluster/pool/coordinator.h"

namespace attune {

// Where many small tasks come and go, no worker ever has enough free for a large one. So the first
// task of a line that has waited for `patience` seconds gets a worker reserved: the one with the
// least to do. That worker then takes only tasks with the same requirements or with higher
// priority. This is backfilling with reservations (Mu'alem and Feitelson, IEEE TPDS 12 (2001),
// section 2), without estimates of run times.
double Coordinator::keep_room(double now) {
  std::vector<std::string> freed;
  std::erase_if(kept_, [&](const auto& each) {
    Worker* worker = workers_.find(each.second);
    if (worker == nullptr || !worker->kept_for || worker->kept_for->id != each.first) return true;
    if (may_have(*worker, *worker->kept_for)) return false;
    worker->kept_for.reset();  // the worker has refused the task's client since
    freed.push_back(each.second);
    return true;
  });
  double next = std::numeric_limits<double>::infinity();
  queue_.for_each_line([&](const TaskSpec& spec, std::size_t) {
    if (!spec.worker.empty()) return;  // that worker is for this task alone
    const double due = board_.find(spec.id)->since + options_.patience;
    if (due > now) {
      next = std::min(next, due);
      return;
    }
    next = std::min(next, now + options_.patience);  // a worker that may have it may come later
    if (kept_.contains(spec.id)) return;
    if (Worker* worker = workers_.to_keep_for(spec)) {
      worker->kept_for = spec;
      kept_[spec.id] = worker->hello.id;
    }
  });
  for (const std::string& worker : freed) fill(worker, now);
  return next;
}

// The task does not wait any more, so its reserved worker is free for others.
void Coordinator::give_room_back(const std::string& task, double now) {
  const auto found = kept_.find(task);
  if (found == kept_.end()) return;
  const std::string id = found->second;
  kept_.erase(found);
  Worker* worker = workers_.find(id);
  if (worker == nullptr || !worker->kept_for || worker->kept_for->id != task) return;
  worker->kept_for.reset();
  if (worker->state == WorkerState::ready) fill(id, now);
}

}  // namespace attune
