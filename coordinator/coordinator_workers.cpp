// What workers say.
#include <fmt/format.h>

#include <algorithm>

#include "coordinator/coordinator.h"
#include "coordinator/trial_event.h"

namespace attune {
namespace {

bool names(const WorkerHello& hello, const Task& task) {
  return std::ranges::any_of(hello.running, [&](const HeldLease& each) {
    return each.task == task.spec.id && each.lease == task.lease;
  });
}

}  // namespace

Result<void> Coordinator::worker_joined(const WorkerHello& hello, double now) {
  if (hello.id.empty()) return fail("a worker needs a name");
  Worker& worker = workers_.at(hello.id);
  if (worker.state != WorkerState::lost && worker.hello.incarnation != hello.incarnation)
    return fail(
        fmt::format("a worker {} is here already, on {} (process {}): give this one another "
                    "name, or wait until that one is gone",
                    hello.id, worker.hello.host, worker.hello.pid));
  workers_.come(worker, hello, now);
  worker_alarms_.clear(hello.id);
  for (const std::string& id : worker.tasks) {
    Task& task = *board_.find(id);
    task.heard = now;
    if (!names(hello, task)) effects_.lease(task, true);
    if (task.state == TaskState::closing) effects_.cancel(hello.id, {id, task.lease}, task.how);
  }
  for (const HeldLease& each : hello.running) {
    const Task* task = board_.find(each.task);
    if (task != nullptr && task->lease == each.lease && worker.tasks.contains(each.task)) continue;
    ++fenced_;
    effects_.cancel(hello.id, each, "kill");
  }
  fill(hello.id, now);
  go_on(now);
  return {};
}

void Coordinator::worker_lost(const std::string& id, double now) {
  Worker* worker = workers_.find(id);
  if (worker == nullptr || worker->state == WorkerState::lost) return;
  if (worker->tasks.empty()) {
    workers_.erase(id);
  } else {
    workers_.set_state(*worker, WorkerState::lost, now);
    worker_alarms_.set(id, now + options_.lost_after);
  }
  go_on(now);
}

void Coordinator::worker_drains(const std::string& id, double now) {
  Worker* worker = workers_.find(id);
  if (worker == nullptr || worker->state != WorkerState::ready) return;
  workers_.set_state(*worker, WorkerState::draining, now);
  fill(id, now);
}

void Coordinator::worker_left(const std::string& id, double now) {
  if (Worker* worker = workers_.find(id))
    abandon(*worker, fmt::format("its worker {} has left", id), now);
}

// What it had is lost: another worker may have it, and whatever runs there still is fenced off.
void Coordinator::abandon(Worker& worker, const std::string& cause, double now) {
  const std::string id = worker.hello.id;
  workers_.set_state(worker, WorkerState::lost, now);  // gets nothing of what is free now
  const std::set<std::string> tasks = worker.tasks;
  for (const std::string& task : tasks)
    attempt_over(*board_.find(task), TaskState::lost, cause, "", now);
  worker_alarms_.clear(id);
  workers_.erase(id);
}

void Coordinator::worker_unavailable(const std::string& id, const std::string& cause, double now) {
  for (Task* task : in_order()) {
    if (task->state == TaskState::queued && task->spec.worker == id)
      end(*task, TaskState::lost, cause, "", now);
  }
  if (Worker* worker = workers_.find(id)) abandon(*worker, cause, now);
  go_on(now);
}

// The task, if that is the lease that counts.
Task* Coordinator::leased_to(const std::string& worker, const HeldLease& lease) {
  Task* task = board_.find(lease.task);
  const bool good = task != nullptr && task->worker == worker && task->lease == lease.lease &&
                    task->state != TaskState::queued && !is_end(task->state);
  if (!good) ++fenced_;
  return good ? task : nullptr;
}

void Coordinator::started(const std::string& worker, const HeldLease& lease, double now) {
  Task* task = leased_to(worker, lease);
  if (task == nullptr) return effects_.cancel(worker, lease, "kill");
  task->heard = now;
  if (task->state != TaskState::leased) return;
  append({.edge = Edge::running, .at = now, .task = lease.task});
  watch(*task);
  effects_.state_changed(*task);
}

void Coordinator::info(const std::string& worker, const HeldLease& lease, std::uint64_t seq,
                       std::uint64_t position, const json& event, double now) {
  Task* task = leased_to(worker, lease);
  if (task == nullptr) return effects_.cancel(worker, lease, "kill");
  task->heard = now;
  if (!owns(*task)) return effects_.info(*task, seq, event);
  if (position == 0 || position > task->position) {
    append({.edge = Edge::info,
            .at = now,
            .task = lease.task,
            .number = std::max(position, task->position),
            .text = dump_json(event)});
    if (commander_ && commander_->on_info(*task, with_value(event)) == Verdict::finish &&
        task->state != TaskState::closing)
      close(*task, kFinish, "its commander said so", false, now);
  }
  effects_.acknowledge_info(*task, seq);
  go_on(now);
}

void Coordinator::finished(const std::string& worker, const HeldLease& lease, TaskState state,
                           const std::string& cause, const std::string& report, double now) {
  Task* known = board_.find(lease.task);
  const bool again = known != nullptr && known->lease == lease.lease && is_end(known->state);
  Task* task = again ? nullptr : leased_to(worker, lease);
  // The worker keeps it until it hears this.
  if (task == nullptr) return effects_.acknowledge_end(worker, lease);
  attempt_over(*task, state, cause, report, now);
  effects_.acknowledge_end(worker, lease);
}

void Coordinator::refused(const std::string& worker, const HeldLease& lease, const std::string& why,
                          double now) {
  Task* task = leased_to(worker, lease);
  if (task == nullptr) return;
  Worker* here = workers_.find(worker);
  if (here != nullptr) {
    workers_.release(*here, task->spec);
    here->refused.insert(task->spec.client);
  }
  const std::string cause = fmt::format("worker {} cannot run it: {}", worker, why);
  if (task->state == TaskState::closing) {
    end(*task, TaskState::cancelled, task->cause, "", now);
  } else {
    try_again(*task, task->attempt, cause, now);
  }
  fill(worker, now);
  go_on(now);
}

}  // namespace attune
