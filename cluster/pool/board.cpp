#include "cluster/pool/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/names.h"
#include "base/saved_numbers.h"
#include "cluster/pool/fields.h"

namespace attune {
namespace {

// The upper half of a lease number is the coordinator's epoch. So leases of different coordinators
// differ, even if the last leases of the former one never reached the disk.
constexpr int kLeaseBits = 32;
constexpr std::uint64_t kMostEpochs = std::uint64_t{1}
                                      << 31;  // so that leases are positive in JSON
constexpr std::int64_t kMostAttempts = 1'000'000;

TaskState state_after(const Record& record) {
  switch (record.edge) {
    case Edge::leased:
      return TaskState::leased;
    case Edge::running:
      return TaskState::running;
    case Edge::closing:
      return TaskState::closing;
    case Edge::ended:
      return record.state;
    default:
      return TaskState::queued;
  }
}

Result<void> check(const Task& task, const Record& record) {
  const auto wrong = [&](std::string_view what) {
    return fail(fmt::format("task {}, {}: {}", task.spec.id, to_text(task.state), what));
  };
  switch (record.edge) {
    case Edge::gone:
      if (!is_end(task.state)) return wrong("it has not ended, and cannot be forgotten");
      return {};
    case Edge::info:
      if (task.state == TaskState::queued || is_end(task.state))
        return wrong("it does not run, and cannot have said anything");
      return {};
    case Edge::ended:
      if (!is_end(record.state)) return wrong("no end");
      break;
    case Edge::leased:
      if (record.worker.empty() || record.number == 0) return wrong("leased to nobody");
      break;
    case Edge::closing:
      // A task that closes for another attempt may be told to end for good.
      if (task.state == TaskState::closing && task.again && !record.again) return {};
      break;
    default:
      break;
  }
  if (!may_become(task.state, state_after(record)))
    return wrong(fmt::format("it cannot become {}", to_text(state_after(record))));
  return {};
}

void move(Task& task, const Record& record) {
  task.state = state_after(record);
  task.since = task.heard = record.at;
  if (record.edge != Edge::running) task.cause = record.cause;
  switch (record.edge) {
    case Edge::leased:
      task.worker = record.worker;
      task.worker_key = record.key;
      task.lease = record.number;
      task.leased = record.at;
      task.position = 0;
      break;
    case Edge::closing:
      task.how = record.text;
      task.again = record.again;
      break;
    case Edge::requeued:
      task.attempt = record.attempt;
      break;
    case Edge::ended:
      task.report = record.text;
      break;
    default:
      break;
  }
}

json save_task(const Task& task) {
  json state = {
      {"spec", to_json(task.spec)}, {"state", to_text(task.state)}, {"order", task.order},
      {"attempt", task.attempt},    {"lease", task.lease},          {"worker", task.worker},
      {"since", task.since},        {"leased", task.leased},        {"how", task.how},
      {"cause", task.cause},        {"again", task.again},          {"position", task.position},
      {"report", task.report}};
  if (!task.worker_key.empty()) state["worker_key"] = task.worker_key;
  return state;
}

Result<Task> load_task(const json& state) {
  Task task;
  task.spec = TRY(parse_task_spec(TRY(object_at(state, "spec"))));
  task.state = TRY(parse_task_state(TRY(text_at(state, "state"))));
  task.order = TRY(count_at(state, "order"));
  const std::int64_t attempt = TRY(integer_at(state, "attempt"));
  if (attempt < 0 || attempt > kMostAttempts) return fail("attempt: out of range");
  task.attempt = static_cast<int>(attempt);
  task.lease = TRY(count_at(state, "lease"));
  task.worker = TRY(text_at(state, "worker"));  // empty: nobody had it yet
  if (!task.worker.empty()) TRY(check_name("worker", task.worker));
  if (state.contains("worker_key")) task.worker_key = TRY(name_at(state, "worker_key"));
  task.since = task.heard = TRY(number_at(state, "since"));
  task.leased = TRY(number_at(state, "leased"));
  task.how = TRY(text_at(state, "how"));
  task.cause = TRY(text_at(state, "cause"));
  task.again = TRY(flag_at(state, "again"));
  task.position = TRY(count_at(state, "position"));
  task.report = TRY(text_at(state, "report"));
  const bool held = task.state != TaskState::queued && !is_end(task.state);
  if (held && (task.worker.empty() || task.lease == 0))
    return fail(fmt::format("task {} is {}, by nobody", task.spec.id, to_text(task.state)));
  return task;
}

}  // namespace

Task* Board::find(const std::string& id) {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

std::string Board::client_key(const std::string& client) const {
  const auto found = client_keys_.find(client);
  return found == client_keys_.end() ? "" : found->second;
}

Result<void> Board::apply(const Record& record) {
  switch (record.edge) {
    case Edge::began:
      if (record.number <= epoch_) return fail("a coordinator that began before the last one");
      if (record.number >= kMostEpochs) return fail("more coordinators than there can have been");
      epoch_ = record.number;
      if (record.again) latched_ = false;
      if (secret_.empty()) secret_ = record.key;
      lease_ = std::max(lease_, epoch_ << kLeaseBits);
      return {};
    case Edge::latched:
      latched_ = true;
      return {};
    case Edge::named:
      if (record.client.empty() || record.key.empty()) return fail("a name without a client");
      if (!client_keys_.emplace(record.client, record.key).second)
        return fail(fmt::format("client {} was named twice", record.client));
      return {};
    case Edge::created: {
      if (!record.spec) return fail("a task that was created without a spec");
      Task task;
      task.spec = *record.spec;
      task.since = task.heard = record.at;
      task.order = created_ + 1;
      if (!tasks_.emplace(record.spec->id, std::move(task)).second)
        return fail(fmt::format("task {} was created twice", record.spec->id));
      ++created_;
      return {};
    }
    default:
      break;
  }
  Task* task = find(record.task);
  if (task == nullptr) return fail(fmt::format("there is no task {}", record.task));
  TRY(check(*task, record));
  // A new lease must belong to the present epoch, and be larger than all before.
  if (record.edge == Edge::leased &&
      (record.number <= lease_ || record.number >> kLeaseBits != epoch_))
    return fail(
        fmt::format("task {} was leased under a number that was not its turn", record.task));
  if (record.edge == Edge::gone) {
    tasks_.erase(record.task);
  } else if (record.edge == Edge::info) {
    task->position = record.number;
  } else {
    if (record.edge == Edge::leased) lease_ = record.number;
    move(*task, record);
  }
  return {};
}

json Board::save() const {
  std::vector<const Task*> ordered;
  for (const auto& [id, task] : tasks_) ordered.push_back(&task);
  std::ranges::sort(ordered, {}, &Task::order);
  json tasks = json::array();
  for (const Task* task : ordered) tasks.push_back(save_task(*task));
  json state = {{"epoch", epoch_},
                {"created", created_},
                {"lease", lease_},
                {"latched", latched_},
                {"tasks", std::move(tasks)}};
  if (!secret_.empty()) state["secret"] = secret_;
  if (!client_keys_.empty()) state["client_keys"] = client_keys_;
  return state;
}

Result<void> Board::load(const json& state) {
  Board board;
  board.epoch_ = TRY(count_at(state, "epoch"));
  board.created_ = TRY(count_at(state, "created"));
  board.lease_ = TRY(count_at(state, "lease"));
  board.latched_ = TRY(flag_at(state, "latched"));
  if (state.contains("secret")) board.secret_ = TRY(name_at(state, "secret"));
  if (state.contains("client_keys")) {
    const json keys = TRY(object_at(state, "client_keys"));
    for (const auto& [client, key] : keys.items()) {
      TRY(check_name("client_keys", client));
      board.client_keys_[client] = TRY(name_at(keys, client));
    }
  }
  if (board.epoch_ >= kMostEpochs || board.lease_ >> kLeaseBits != board.epoch_)
    return fail("lease: it is not one of this coordinator");
  std::set<std::uint64_t> orders;
  for (const json& each : TRY(array_at(state, "tasks"))) {
    Task task = TRY(load_task(each));
    const std::string id = task.spec.id;
    const bool in_turn =
        task.order >= 1 && task.order <= board.created_ && task.lease <= board.lease_;
    if (!in_turn || !orders.insert(task.order).second)
      return fail(fmt::format("task {}: order or lease is out of turn", id));
    if (!board.tasks_.emplace(id, std::move(task)).second)
      return fail(fmt::format("task {} is there twice", id));
  }
  *this = std::move(board);
  return {};
}

}  // namespace attune
