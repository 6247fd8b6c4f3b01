// What workers say, and how the coordinator treats lost workers.
#include <fmt/format.h>

#include <algorithm>

#include "cluster/pool/coordinator.h"
#include "cluster/pool/name_key.h"
#include "cluster/pool/trial_event.h"

namespace attune {
namespace {

// Workers in batch jobs never come back under their names, so without a bound their orphans would
// pile up.
constexpr std::size_t kMostOrphans = 1000;

bool names(const WorkerHello& hello, const Task& task) {
  return std::ranges::any_of(hello.running, [&](const HeldLease& each) {
    return each.task == task.spec.id && each.lease == task.lease;
  });
}

}  // namespace

Result<void> Coordinator::worker_joined(const WorkerHello& hello, double now) {
  const std::string key = hello.key.empty() ? "" : TRY(digest_of_key(hello.key));
  Worker& worker = workers_.at(hello.id);
  // Also while the worker is lost: its tasks wait for nobody else.
  if (!worker.key.empty() && worker.key != key)
    return fail(
        fmt::format("the name {} is that of another worker, which has another key: give this one "
                    "another name, or wait until that one is gone or given up",
                    hello.id));
  // The same process may come again before the loss of its former connection was noticed.
  if (worker.state != WorkerState::lost && worker.hello.incarnation != hello.incarnation)
    return fail(
        fmt::format("a worker {} is here already, on {} (process {}): give this one another "
                    "name, or wait until that one is gone",
                    hello.id, worker.hello.host, worker.hello.pid));
  worker.key = key;
  workers_.come(worker, hello, now);
  worker_alarms_.clear(hello.id);
  for (const std::string& id : worker.tasks) {
    Task& task = *board_.find(id);
    task.heard = now;
    watch(task);
    if (!names(hello, task)) {
      task.said_again = true;
      effects_.lease(task, true);
    }
    if (task.state == TaskState::closing) effects_.cancel(hello.id, {id, task.lease}, task.how);
  }
  for (const HeldLease& each : hello.running) {
    const Task* task = board_.find(each.task);
    if (task != nullptr && task->lease == each.lease && worker.tasks.contains(each.task)) continue;
    ++fenced_;
    effects_.cancel(hello.id, each, "kill");
  }
  end_orphans(hello, key);
  fill(hello.id, now);
  look_at_ = now;
  go_on(now);
  return {};
}

// When a worker is killed its trials run on. The next attempt of such a trial, on whatever machine,
// waits until the old attempt has ended. So a worker that comes under the old name gets the old
// lease, in order to find the attempt, and a cancel, in order to end it.
void Coordinator::end_orphans(const WorkerHello& hello, const std::string& worker_key) {
  std::erase_if(orphans_, [&](const Task& orphan) {
    const bool same = orphan.worker_key.empty() || orphan.worker_key == worker_key;
    if (orphan.worker != hello.id || !same) return false;
    if (!names(hello, orphan)) {
      effects_.lease(orphan, true);
      effects_.cancel(hello.id, {orphan.spec.id, orphan.lease}, "kill");
    }
    return true;
  });
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
  look_at_ = now;
  go_on(now);
}

void Coordinator::worker_drains(const std::string& id, double now) {
  Worker* worker = workers_.find(id);
  if (worker == nullptr || worker->state != WorkerState::ready) return;
  workers_.set_state(*worker, WorkerState::draining, now);
  fill(id, now);
}

Result<void> Coordinator::drain(const std::string& id, double now) {
  Worker* worker = workers_.find(id);
  if (worker == nullptr || worker->state == WorkerState::lost)
    return fail(fmt::format("there is no worker {} here", id));
  workers_.set_state(*worker, WorkerState::draining, now);
  effects_.dismiss(id);  // it leaves when it has no task left
  const std::set<std::string> tasks = worker->tasks;
  for (const std::string& each : tasks) {
    Task& task = *board_.find(each);
    if (yields(task)) close(task, kFinish, fmt::format("worker {} is drained", id), false, now);
  }
  look_at_ = now;  // it may be reserved for a task, which then needs another worker
  go_on(now);
  return {};
}

// The worker's tasks are lost, and other workers may get them. Messages under the old leases are
// ignored from now on.
void Coordinator::abandon(Worker& worker, const std::string& cause, double now) {
  const std::string id = worker.hello.id;
  const bool here = worker.state != WorkerState::lost;
  // Lost: it gets none of the tasks that become free below.
  workers_.set_state(worker, WorkerState::lost, now);
  const std::set<std::string> tasks = worker.tasks;
  for (const std::string& each : tasks) {
    Task& task = *board_.find(each);
    if (here) {
      effects_.cancel(id, {each, task.lease}, "kill");
    } else {
      if (orphans_.size() == kMostOrphans) orphans_.pop_front();
      orphans_.push_back(task);
      // Running: a worker that does not find it must not start it.
      orphans_.back().state = TaskState::running;
    }
    attempt_over(task, TaskState::lost, cause, "", now);
  }
  worker_alarms_.clear(id);
  workers_.erase(id);
  if (here) effects_.dismiss(id);
}

void Coordinator::worker_unavailable(const std::string& id, const std::string& cause, double now) {
  for (Task* task : in_order()) {
    if (task->state == TaskState::queued && task->spec.worker == id)
      end(*task, TaskState::lost, cause, "", now);
  }
  if (Worker* worker = workers_.find(id)) abandon(*worker, cause, now);
  go_on(now);
}

// The task, if it runs under this very lease. Otherwise counts a fenced message and returns null.
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
  if (task == nullptr) {
    effects_.cancel(worker, lease, "kill");
    // No client hears of the message, so none would acknowledge it.
    return effects_.acknowledge_info(worker, lease, seq);
  }
  task->heard = now;
  if (!owns(*task)) return effects_.info(*task, seq, event);
  if (position == 0 || position > task->position) {
    append({.edge = Edge::info,
            .at = now,
            .task = lease.task,
            .number = std::max(position, task->position),
            .text = dump_json(event)});
    if (commander_) commander_->on_info(*task, with_value(event));
  }
  effects_.acknowledge_info(worker, lease, seq);
  go_on(now);
}

void Coordinator::finished(const std::string& worker, const HeldLease& lease, TaskState state,
                           const std::string& cause, const std::string& report, double now) {
  Task* known = board_.find(lease.task);
  const bool again = known != nullptr && known->lease == lease.lease && is_end(known->state);
  Task* task = again ? nullptr : leased_to(worker, lease);
  // Even an end that does not count is acknowledged: the worker repeats it until then.
  if (task == nullptr) return effects_.acknowledge_end(worker, lease);
  attempt_over(*task, state, cause, report, now);
  effects_.acknowledge_end(worker, lease);
}

void Coordinator::refused(const std::string& worker, const HeldLease& lease, const std::string& why,
                          double now) {
  Task* task = leased_to(worker, lease);
  if (task == nullptr) return;
  Worker& here = *workers_.find(worker);
  here.refused.insert(task->spec.client);
  look_at_ = now;  // it may be reserved for another task of that client
  const std::string cause = fmt::format("worker {} cannot run it: {}", worker, why);
  if (task->state != TaskState::leased || task->said_again)
    return attempt_over(*task, TaskState::lost, cause, "", now);
  workers_.release(here, task->spec);
  try_again(*task, task->attempt, cause, now);
  fill(worker, now);
  go_on(now);
}

}  // namespace attune
