#include "cluster/pool/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "cluster/pool/trial_event.h"

namespace attune {
Coordinator::Coordinator(CoordinatorOptions options, std::unique_ptr<Commander> commander,
                         CoordinatorEffects& effects)
    : options_(std::move(options)), commander_(std::move(commander)), effects_(effects) {}

Coordinator::~Coordinator() = default;

// ---- the board

// A replayed record may be damaged, so that the board refuses it. If it refuses a live one, that is
// a bug of ours.
void Coordinator::append(const Record& record) {
  effects_.append(record);
  ATTUNE_CHECK(board_.apply(record).has_value());
  told(record, board_.find(record.task));
}

// The commander gets the same calls whether records are live or replayed.
void Coordinator::told(const Record& record, const Task* task) {
  effects_.applied(record, task);
  if (!commander_ || task == nullptr || !owns(*task)) return;
  if (record.edge == Edge::created) commander_->created(*task);
  if (record.edge == Edge::leased || record.edge == Edge::requeued) commander_->moved(*task);
  if (record.edge == Edge::closing && !record.again) commander_->told_to_finish(*task);
  if (record.edge == Edge::ended) commander_->ended(*task);
}

void Coordinator::create(const TaskSpec& spec, double now) {
  append({.edge = Edge::created, .at = now, .task = spec.id, .spec = spec});
  enqueue(*board_.find(spec.id), now);
}

void Coordinator::enqueue(Task& task, double now) {
  watch(task);
  const double ready = task.since + pause_before(task.attempt);
  if (ready > now) return pauses_.set(task.spec.id, ready);
  wait_in_line(task, now);
}

// The second attempt begins at once, further ones after 1, 2, 4, ... up to 60 s: a program that
// cannot run must not keep the workers busy.
double Coordinator::pause_before(int attempt) {
  constexpr double kLongest = 60;
  return attempt < 2 ? 0 : std::min(std::ldexp(1.0, std::min(attempt, 10) - 2), kLongest);
}

void Coordinator::wait_in_line(Task& task, double now) {
  if (!queue_.add(task.spec, task.order)) return;
  if (Worker* worker = workers_.place_for(task.spec)) return lease(task, *worker, now);
  look_at_ = std::min(look_at_, task.since + options_.tell_after);
}

void Coordinator::lease(Task& task, Worker& worker, double now) {
  queue_.remove(task.spec, task.order);
  task.waits_for.clear();
  task.obstacle.clear();
  task.said_again = false;
  workers_.take(worker, task.spec);
  append({.edge = Edge::leased,
          .at = now,
          .task = task.spec.id,
          .worker = worker.hello.id,
          .number = board_.next_lease(),
          .key = worker.key});
  watch(task);
  effects_.lease(task, false);
  effects_.state_changed(task);
  give_room_back(task.spec.id, now);
}

// Leases to the worker all waiting tasks that fit, those of the highest priority first.
void Coordinator::fill(const std::string& id, double now) {
  Worker* worker = workers_.find(id);
  if (worker == nullptr) return;
  while (const TaskSpec* spec = queue_.next_for(*worker))
    lease(*board_.find(spec->id), *worker, now);
  if (worker->state == WorkerState::draining && worker->tasks.empty()) effects_.dismiss(id);
}

// Does what the commander wants now: ends superfluous tasks, creates new ones, makes places for
// them.
void Coordinator::go_on(double now) {
  if (!commander_ || board_.latched()) return;
  const auto end = [&](const std::string& cause) { finish_all(cause, now); };
  for (std::string id = commander_->superfluous(); !id.empty(); id = commander_->superfluous()) {
    // The commander's loaded state may not belong to these tasks. Without this check it would name
    // the same id for ever.
    Task* task = board_.find(id);
    if (task == nullptr || !owns(*task) || !may_be_told(*task, false))
      return end(fmt::format("the commander does not know that task {} has ended", id));
    close(*task, kFinish, "it has nothing to do any more", false, now);
  }
  if (commander_->done())
    return end(commander_->failure().empty() ? "all is done" : commander_->failure());
  while (const auto spec = commander_->next(now)) {
    if (board_.find(spec->id) != nullptr)
      return end(fmt::format("the commander wants a task {}, which is there already", spec->id));
    create(*spec, now);
  }
  make_places(now);
}

// A task that is closing for another attempt can still be told to end for good.
bool Coordinator::may_be_told(const Task& task, bool again) {
  if (task.state == TaskState::closing) return task.again && !again;
  return !is_end(task.state);
}

void Coordinator::close(Task& task, const std::string& how, const std::string& cause, bool again,
                        double now) {
  if (is_end(task.state)) return;
  if (task.state == TaskState::queued) return end(task, TaskState::cancelled, cause, "", now);
  if (may_be_told(task, again)) {
    append({.edge = Edge::closing,
            .at = now,
            .task = task.spec.id,
            .cause = cause,
            .text = how,
            .again = again});
    watch(task);
    effects_.state_changed(task);
  }
  effects_.cancel(task.worker, {task.spec.id, task.lease}, how);
}

void Coordinator::try_again(Task& task, int attempt, const std::string& cause, double now) {
  append({.edge = Edge::requeued,
          .at = now,
          .task = task.spec.id,
          .attempt = attempt,
          .cause = cause});
  effects_.state_changed(task);
  enqueue(task, now);
}

void Coordinator::end(Task& task, TaskState state, const std::string& cause,
                      const std::string& report, double now) {
  if (task.state == TaskState::queued) queue_.remove(task.spec, task.order);
  pauses_.clear(task.spec.id);
  append({.edge = Edge::ended,
          .at = now,
          .task = task.spec.id,
          .state = state,
          .cause = cause,
          .text = report});
  task_alarms_.clear(task.spec.id);
  effects_.state_changed(task);
  give_room_back(task.spec.id, now);
  // No client acknowledges the end of a commander's task.
  if (owns(task)) append({.edge = Edge::gone, .at = now, .task = std::string(task.spec.id)});
}

bool Coordinator::may_try_again(const Task& task, TaskState state, const std::string& cause) const {
  return !board_.latched() && task.attempt + 1 < task.spec.limits.attempts &&
         (!owns(task) || !commander_ || commander_->retry(task, state, cause));
}

// The attempt has ended, or has lost its lease: whatever the worker still says of it is ignored.
void Coordinator::attempt_over(Task& task, TaskState state, const std::string& cause,
                               const std::string& report, double now) {
  const std::string worker_id = task.worker;
  if (Worker* worker = workers_.find(worker_id)) workers_.release(*worker, task.spec);
  const bool closing = task.state == TaskState::closing;
  const std::string why = closing ? task.cause : cause;
  if (closing && !task.again) {
    // A task that was told to finish has done its work, however it reports its end; only a lost one
    // may not have.
    const bool finished = task.how == kFinish && state != TaskState::lost;
    end(task, finished ? TaskState::succeeded : TaskState::cancelled, why, report, now);
  } else if (state == TaskState::succeeded) {
    end(task, state, "", report, now);
  } else if (may_try_again(task, state, why)) {
    try_again(task, task.attempt + 1, why, now);
  } else {
    // An attempt that was ended for a limit reports that it was cancelled; without another attempt
    // the task has failed.
    end(task, closing ? TaskState::failed : state, why, report, now);
  }
  fill(worker_id, now);
  go_on(now);
}

std::vector<Task*> Coordinator::in_order() {
  std::vector<Task*> ordered;
  for (const auto& [id, task] : board_.tasks()) ordered.push_back(board_.find(id));
  std::ranges::sort(ordered, {}, &Task::order);
  return ordered;
}

// ---- a new coordinator

Result<void> Coordinator::load(const json& state) {
  if (!state.is_object() || !state.contains("board")) return fail("the state has no board");
  if (auto loaded = board_.load(state["board"]); !loaded)
    return fail("board: " + loaded.error().message);
  if (!commander_) return {};
  if (!state.contains("commander")) return fail("the state has no commander");
  if (auto loaded = commander_->load(state["commander"]); !loaded)
    return fail("commander: " + loaded.error().message);
  return {};
}

Result<void> Coordinator::replay(const Record& record) {
  if (auto applied = board_.apply(record); !applied) return applied;
  const Task* task = board_.find(record.task);
  told(record, task);
  if (record.edge != Edge::info || !commander_ || !owns(*task)) return {};
  const auto event = parse_json(record.text);
  if (!event) return fail("info: " + event.error().message);
  commander_->on_info(*task, with_value(*event));
  return {};
}

json Coordinator::save() const {
  json state = {{"board", board_.save()}};
  if (commander_) state["commander"] = commander_->save();
  return state;
}

void Coordinator::begin(double now) {
  // The work of a commander, once done, stays done; clients may bring new tasks.
  const bool open_again = board_.latched() && !commander_;
  append({.edge = Edge::began,
          .at = now,
          .number = board_.epoch() + 1,
          .again = open_again,
          .key = board_.secret().empty() ? options_.secret : ""});
  begun_ = now;
  for (Task* task : in_order()) {
    task->heard = now;
    if (commander_ && owns(*task)) commander_->moved(*task);
    if (task->state == TaskState::queued) {
      enqueue(*task, now);
    } else if (!is_end(task->state)) {
      Worker& worker = workers_.at(task->worker);
      if (worker.key.empty()) worker.key = task->worker_key;
      workers_.take(worker, task->spec);
      worker_alarms_.set(task->worker, now + options_.lost_after);
      watch(*task);
    } else if (owns(*task)) {
      append({.edge = Edge::gone, .at = now, .task = std::string(task->spec.id)});
    }
  }
  // The former coordinator may have been killed before it had told all tasks to end.
  if (board_.latched()) finish_all("the run is over", now);
  go_on(now);
}

// ---- time

// While there is no coordinator no worker can get a task or report an end. So a task that was
// `queued` or `closing` before begin() has at least `lost_after` seconds after it. The tasks of a
// disconnected worker cannot be heard, so their silence does not count.
double Coordinator::deadline_of(const Task& task) const {
  const TaskLimits& limits = task.spec.limits;
  const double back = task.since < begun_ ? begun_ + options_.lost_after : 0;
  switch (task.state) {
    case TaskState::queued:
      return std::max(task.since + limits.queue, back);
    case TaskState::leased:
    case TaskState::running: {
      const auto worker = workers_.workers().find(task.worker);
      const bool cut =
          worker != workers_.workers().end() && worker->second.state == WorkerState::lost;
      const bool runs = task.state == TaskState::running;
      const double silent = cut    ? std::numeric_limits<double>::infinity()
                            : runs ? limits.silent
                                   : std::max(limits.silent, options_.start_within);
      return std::min(task.leased + limits.run, task.heard + silent);
    }
    case TaskState::closing:
      return std::max(task.since + options_.end_within, back);
    default:
      return std::numeric_limits<double>::infinity();
  }
}

// A message of a running task only moves its deadline later. So an alarm that is set too early may
// stay: overdue() looks at the deadline again.
void Coordinator::watch(const Task& task) {
  const double deadline = deadline_of(task);
  const auto set = task_alarms_.at(task.spec.id);
  if (std::isfinite(deadline) && (!set || deadline < *set))
    task_alarms_.set(task.spec.id, deadline);
}

void Coordinator::overdue(Task& task, double now) {
  const TaskLimits& limits = task.spec.limits;
  if (deadline_of(task) > now) return watch(task);
  if (task.state == TaskState::queued) {
    end(task, TaskState::failed, fmt::format("no worker took it within {} s", limits.queue), "",
        now);
    return go_on(now);
  }
  if (task.state == TaskState::closing) {
    effects_.cancel(task.worker, {task.spec.id, task.lease}, "kill");
    const std::string cause =
        fmt::format("it did not end within {} s of being told to", options_.end_within);
    return attempt_over(task, TaskState::lost, cause, "", now);
  }
  const bool too_long = task.leased + limits.run <= now;
  const std::string cause =
      too_long ? fmt::format("it ran longer than {} s", limits.run)
               : fmt::format("nothing was heard of it for {:.0f} s", now - task.heard);
  close(task, "stop", cause, true, now);
}

void Coordinator::tick(double now) {
  while (const auto id = worker_alarms_.take(now)) {
    if (Worker* worker = workers_.find(*id);
        worker != nullptr && worker->state == WorkerState::lost)
      abandon(*worker,
              fmt::format("its worker {} was not heard for {} s", *id, options_.lost_after), now);
  }
  while (const auto id = task_alarms_.take(now)) {
    if (Task* task = board_.find(*id)) overdue(*task, now);
  }
  while (const auto id = pauses_.take(now)) {
    if (Task* task = board_.find(*id)) wait_in_line(*task, now);
  }
  if (look_at_ <= now) look_at_ = std::min(keep_room(now), tell_obstacles(now));
  go_on(now);
}

std::optional<double> Coordinator::next_time() const {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  double next = queue_.size() > 0 ? look_at_ : kNever;
  for (const auto at : {task_alarms_.next(), worker_alarms_.next(), pauses_.next()})
    next = std::min(next, at.value_or(next));
  if (commander_ && !board_.latched()) next = std::min(next, commander_->next_time());
  return std::isfinite(next) ? std::optional(next) : std::nullopt;
}

}  // namespace attune
