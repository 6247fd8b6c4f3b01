#pragma once
// Builds the messages of docs/wire.md as JSON, and turns received ones into calls of the
// coordinator.
#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/coordinator.h"

namespace attune {

// ---- to workers
// `key`: of the attempt's program (name_key.h); empty: it has none.
json lease_message(const Task& task, bool again, const std::string& key);
json cancel_message(const HeldLease& lease, const std::string& how);
json tell_message(const Task& task, const json& message);
json say_again_message(const Task& task);
json info_ack_message(const HeldLease& lease, std::uint64_t seq);
json finished_ack_message(const HeldLease& lease);

// ---- to clients
// The type is `finished` for an ended task, else `state`. The message carries elapsed seconds
// instead of a time, because two machines' clocks may differ.
json state_message(const Task& task, double now);
json info_message(const Task& task, std::uint64_t seq, const json& event);
// For people: all workers, the first kShownTasks tasks (live ones before ended ones, each in the
// order of creation), and why waiting tasks wait.
inline constexpr std::size_t kShownTasks = 1000;
json status_message(const Coordinator& coordinator, double now);

// ---- from workers. Errors say what is wrong with the message; the caller then cuts off the
// sender.
json to_json(const WorkerHello& hello);
Result<WorkerHello> parse_worker_hello(const json& message);
Result<void> hear_worker(Coordinator& coordinator, const std::string& worker, const json& message,
                         double now);

// ---- from clients. Returns the answer; null: there is none. What the coordinator cannot do is
// answered with `refused`; an error means that the sender is to be cut off. `check` says whether a
// submitted task is acceptable; its error becomes `refused`.
Result<json> hear_client(Coordinator& coordinator, const std::string& client, const json& message,
                         const std::function<Result<void>(const TaskSpec&)>& check, double now);

}  // namespace attune
