// What clients say, and what the operator says of waiting tasks.
#include <fmt/format.h>

#include <algorithm>

#include "cluster/pool/coordinator.h"
#include "cluster/pool/name_key.h"

namespace attune {

Result<void> Coordinator::client_joined(const std::string& client, const std::string& key,
                                        double now) {
  const std::string digest = TRY(digest_of_key(key));
  const std::string known = board_.client_key(client);
  if (known.empty()) {
    append({.edge = Edge::named, .at = now, .client = client, .key = digest});
  } else if (known != digest) {
    return fail(
        fmt::format("the name {} is that of another client, which has another key: an experiment "
                    "keeps its own in its folder",
                    client));
  }
  // An ended task is on the board until its client has acknowledged the end.
  for (const Task* task : in_order()) {
    if (task->spec.client == client && is_end(task->state)) effects_.state_changed(*task);
  }
  return {};
}

Result<void> Coordinator::submit(const TaskSpec& spec, double now) {
  if (const Task* known = board_.find(spec.id)) {
    if (known->spec.client != spec.client)
      return fail(fmt::format("task {} is {}'s; ids are unique", spec.id, known->spec.client));
    effects_.state_changed(*known);
    if (known->state != TaskState::queued && !is_end(known->state)) effects_.say_again(*known);
    return {};
  }
  if (board_.latched()) return {};  // its client submits it again, to the next coordinator
  create(spec, now);
  return {};
}

void Coordinator::cancel(const std::string& id, const std::string& how, const std::string& cause,
                         double now) {
  if (Task* task = board_.find(id)) close(*task, how, cause, false, now);
  go_on(now);
}

Result<void> Coordinator::tell(const std::string& id, const json& message) {
  const Task* task = board_.find(id);
  if (task == nullptr || task->state == TaskState::queued || is_end(task->state))
    return fail(fmt::format("task {} does not run", id));
  effects_.tell(*task, message);
  return {};
}

void Coordinator::acknowledge(const std::string& id, std::uint64_t seq, std::uint64_t position) {
  Task* task = board_.find(id);
  if (task == nullptr || task->state == TaskState::queued || is_end(task->state)) return;
  task->position = std::max(task->position, position);
  effects_.acknowledge_info(task->worker, {id, task->lease}, seq);
}

void Coordinator::forget(const std::string& id, double now) {
  const Task* task = board_.find(id);
  if (task != nullptr && is_end(task->state)) append({.edge = Edge::gone, .at = now, .task = id});
}

void Coordinator::finish_all(const std::string& cause, double now) {
  if (!board_.latched()) append({.edge = Edge::latched, .at = now, .cause = cause});
  for (Task* task : in_order()) close(*task, "stop", cause, false, now);
}

void Coordinator::refuse_waiting(const std::string& id, const std::string& cause, double now) {
  Task* task = board_.find(id);
  if (task == nullptr || task->state != TaskState::queued) return;
  end(*task, TaskState::failed, cause, "", now);
  go_on(now);
}

void Coordinator::explain(const std::string& id, const std::string& why) {
  Task* task = board_.find(id);
  if (task == nullptr || task->state != TaskState::queued || task->waits_for == why) return;
  task->waits_for = why;
  effects_.state_changed(*task);
}

bool Coordinator::finished() const {
  return board_.latched() && std::ranges::all_of(board_.tasks(), [](const auto& each) {
           return is_end(each.second.state);
         });
}

}  // namespace attune
