#pragma once
// The messages of docs/wire.md as JSON, and what is heard as calls of the coordinator.
#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/coordinator.h"

namespace attune {

// ---- to workers
// `key`: of the program of this attempt (name_key.h); empty: it has none.
json lease_message(const Task& task, bool again, const std::string& key);
json cancel_message(const HeldLease& lease, const std::string& how);
json tell_message(const Task& task, const json& message);
json say_again_message(const Task& task);
json info_ack_message(const HeldLease& lease, std::uint64_t seq);
json finished_ack_message(const HeldLease& lease);

// ---- to clients
// Since when is said in seconds until `now`: two machines' clocks may differ.
json state_message(const Task& task, double now);  // `finished` when it has ended
json info_message(const Task& task, std::uint64_t seq, const json& event);
// For people: workers, the oldest kShownTasks tasks that nobody has forgotten, why those that wait
// do.
inline constexpr std::size_t kShownTasks = 1000;
json status_message(const Coordinator& coordinator, double now);

// ---- from workers. Errors name what is wrong with the message; the sender is to be cut off.
json to_json(const WorkerHello& hello);
Result<WorkerHello> parse_worker_hello(const json& message);
Result<void> hear_worker(Coordinator& coordinator, const std::string& worker, const json& message,
                         double now);

// ---- from clients. What can be refused is answered: `submitted` or `refused`, or null.
// `check`: whether a task that is submitted can be.
Result<json> hear_client(Coordinator& coordinator, const std::string& client, const json& message,
                         const std::function<Result<void>(const TaskSpec&)>& check, double now);

}  // namespace attune
