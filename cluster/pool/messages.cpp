#include "cluster/pool/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "base/saved_numbers.h"
#include "cluster/pool/fields.h"
#include "cluster/pool/name_key.h"
#include "cluster/pool/trial_event.h"

namespace attune {
namespace {

// Reads a text that the coordinator stores and passes on. The limit is far below that of a message,
// so that a message that carries the text has room for more.
Result<std::string> short_text_at(const json& message, std::string_view key) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::string text = TRY(text_at(message, key));
  if (text.size() > kMost) return fail(fmt::format("{}: it is longer than {} bytes", key, kMost));
  return text;
}

json to_json(const HeldLease& held) { return {{"task", held.task}, {"lease", held.lease}}; }

json about(std::string_view type, const HeldLease& held) {
  return {{"type", type}, {"task", held.task}, {"lease", held.lease}};
}
json about(std::string_view type, const Task& task) {
  return about(type, {task.spec.id, task.lease});
}

// `time` may come from a journal and lie ahead of `now`, if the clock of that time was fast.
double seconds_since(double time, double now) { return std::max(now - time, 0.0); }

json worker_status(const Worker& worker) {
  return {{"worker", worker.hello.id},      {"host", worker.hello.host},
          {"state", to_text(worker.state)}, {"capacity", to_json(worker.hello.capacity)},
          {"used", to_json(worker.used)},   {"labels", worker.hello.labels},
          {"tasks", worker.tasks}};
}

json task_status(const Coordinator& coordinator, const Task& task, double now) {
  json status = {{"task", task.spec.id},       {"kind", task.spec.kind},
                 {"client", task.spec.client}, {"state", to_text(task.state)},
                 {"attempt", task.attempt},    {"seconds", seconds_since(task.since, now)}};
  if (task.state == TaskState::queued)
    status["waits"] = coordinator.why_waiting(task);
  else
    status["worker"] = task.worker;
  if (!task.cause.empty()) status["cause"] = task.cause;
  return status;
}

// A client may speak of its own tasks only.
Result<void> check_owner(const Coordinator& coordinator, const std::string& client,
                         const std::string& id) {
  const auto& tasks = coordinator.board().tasks();
  const auto found = tasks.find(id);
  if (found != tasks.end() && found->second.spec.client != client)
    return fail(fmt::format("task {} is not yours", id));
  return {};
}

// Ends a task of any client or of the commander, for `attune pool cancel`.
Result<json> end_task(Coordinator& coordinator, const json& message, double now) {
  const std::string id = TRY(name_at(message, "task"));
  const std::string cause = TRY(short_text_at(message, "cause"));
  const auto& tasks = coordinator.board().tasks();
  const auto found = tasks.find(id);
  const std::string why = found == tasks.end() ? fmt::format("there is no task {}", id)
                          : is_end(found->second.state)
                              ? fmt::format("task {} has ended already", id)
                              : "";
  if (!why.empty()) return json{{"type", "refused"}, {"task", id}, {"message", why}};
  const std::string client = found->second.spec.client;
  coordinator.cancel(id, "stop", cause, now);
  return json{{"type", "told_to_end"}, {"task", id}, {"client", client}};
}

}  // namespace

// ---- to workers

json lease_message(const Task& task, bool again, const std::string& key) {
  json message = about("lease", task);
  message["attempt"] = task.attempt;
  message["state"] = to_text(task.state);
  message["position"] = task.position;
  if (again) message["again"] = true;
  if (!key.empty()) message["key"] = key;
  message["program"] = task.spec.program;
  return message;
}

json cancel_message(const HeldLease& lease, const std::string& how) {
  json message = about("cancel", lease);
  message["how"] = how;
  return message;
}

json tell_message(const Task& task, const json& told) {
  json message = about("tell", task);
  message["message"] = told;
  return message;
}

json say_again_message(const Task& task) { return about("say_again", task); }

json info_ack_message(const HeldLease& lease, std::uint64_t seq) {
  json message = about("info_ack", lease);
  message["seq"] = seq;
  return message;
}

json finished_ack_message(const HeldLease& lease) { return about("finished_ack", lease); }

// ---- to clients

json state_message(const Task& task, double now) {
  const std::string& waits = task.waits_for.empty() ? task.obstacle : task.waits_for;
  const bool queued = task.state == TaskState::queued;
  // `since` of a closing task is the time at which it was told to end; its client needs how long it
  // has run.
  const double began = task.state == TaskState::closing ? task.leased : task.since;
  json message = {{"type", is_end(task.state) ? "finished" : "state"},
                  {"task", task.spec.id},
                  {"attempt", task.attempt},
                  {"state", to_text(task.state)},
                  {"worker", task.worker},
                  {"seconds", seconds_since(began, now)},
                  {"cause", queued && !waits.empty() ? waits : task.cause}};
  if (is_end(task.state)) message["report"] = task.report;
  return message;
}

json info_message(const Task& task, std::uint64_t seq, const json& event) {
  return {{"type", "info"},
          {"task", task.spec.id},
          {"attempt", task.attempt},
          {"seq", seq},
          {"event", event}};
}

json status_message(const Coordinator& coordinator, double now) {
  json workers = json::array();
  for (const auto& [id, worker] : coordinator.workers().workers())
    workers.push_back(worker_status(worker));
  std::vector<const Task*> ordered;
  for (const auto& [id, task] : coordinator.board().tasks()) ordered.push_back(&task);
  // Ended tasks, which wait for their clients, come last.
  std::ranges::sort(ordered, {},
                    [](const Task* task) { return std::pair(is_end(task->state), task->order); });
  const std::size_t count = ordered.size();
  ordered.resize(std::min(count, kShownTasks));
  json tasks = json::array();
  for (const Task* task : ordered) tasks.push_back(task_status(coordinator, *task, now));
  return {{"type", "status"},
          {"epoch", coordinator.board().epoch()},
          {"ending", coordinator.board().latched()},
          {"fenced", coordinator.fenced()},
          {"workers", std::move(workers)},
          {"tasks", std::move(tasks)},
          {"task_count", count}};
}

// ---- from workers

json to_json(const WorkerHello& hello) {
  json running = json::array();
  for (const HeldLease& each : hello.running) running.push_back(to_json(each));
  return {{"worker", hello.id},
          {"key", hello.key},
          {"incarnation", hello.incarnation},
          {"host", hello.host},
          {"pid", hello.pid},
          {"labels", hello.labels},
          {"capacity", to_json(hello.capacity)},
          {"kinds", hello.kinds},
          {"running", std::move(running)},
          {"draining", hello.draining}};
}

Result<WorkerHello> parse_worker_hello(const json& message) {
  WorkerHello hello;
  hello.id = TRY(name_at(message, "worker"));
  hello.key = TRY(text_at(message, "key"));
  TRY(digest_of_key(hello.key));
  hello.incarnation = TRY(name_at(message, "incarnation"));
  hello.host = TRY(text_at(message, "host"));
  TRY(check_printable("host", hello.host));
  hello.pid = TRY(integer_at(message, "pid"));
  hello.capacity = TRY(parse_resources(TRY(object_at(message, "capacity"))));
  hello.labels = TRY(names_at(message, "labels"));
  hello.kinds = TRY(names_at(message, "kinds"));
  for (const json& each : TRY(array_at(message, "running")))
    hello.running.push_back(TRY(held_at(each)));
  hello.draining = message.value("draining", json()) == true;
  return hello;
}

Result<void> hear_worker(Coordinator& coordinator, const std::string& worker, const json& message,
                         double now) {
  const std::string type = TRY(text_at(message, "type"));
  if (type == "drain") {
    coordinator.worker_drains(worker, now);
    return {};
  }
  const HeldLease held = TRY(held_at(message));
  if (type == "started") {
    coordinator.started(worker, held, now);
  } else if (type == "info") {
    const json event = TRY(object_at(message, "event"));
    const std::uint64_t position =
        event.contains("position") ? TRY(count_at(event, "position")) : 0;
    coordinator.info(worker, held, TRY(count_at(message, "seq")), position, event, now);
  } else if (type == "finished") {
    const TaskState state = TRY(parse_task_state(TRY(text_at(message, "state"))));
    if (!is_end(state)) return fail(fmt::format("state: {} is no end", to_text(state)));
    const std::string cause = TRY(short_text_at(message, "cause"));
    coordinator.finished(worker, held, state, cause, TRY(short_text_at(message, "report")), now);
  } else if (type == "refused") {
    coordinator.refused(worker, held, TRY(short_text_at(message, "message")), now);
  } else {
    return fail(fmt::format("type: \"{}\" is nothing that a worker says", type));
  }
  return {};
}

// ---- from clients

Result<json> hear_client(Coordinator& coordinator, const std::string& client, const json& message,
                         const std::function<Result<void>(const TaskSpec&)>& check, double now) {
  const std::string type = TRY(text_at(message, "type"));
  if (type == "status") return status_message(coordinator, now);
  if (type == "shutdown") {
    coordinator.finish_all("client " + client + " said so", now);
    return json();
  }
  const auto refused = [](const std::string& id, const Error& error) -> json {
    return {{"type", "refused"}, {"task", id}, {"message", error.message}};
  };
  if (type == "drain_worker") {
    const std::string worker = TRY(name_at(message, "worker"));
    if (auto drained = coordinator.drain(worker, now); !drained)
      return json{{"type", "refused"}, {"worker", worker}, {"message", drained.error().message}};
    return json{{"type", "drained"},
                {"worker", worker},
                {"tasks", coordinator.workers().workers().at(worker).tasks}};
  }
  if (type == "end_task") return end_task(coordinator, message, now);
  if (type == "submit") {
    const json object = TRY(object_at(message, "task"));
    const std::string id = TRY(name_at(object, "id"));
    auto spec = parse_task_spec(object);
    if (!spec) return refused(id, spec.error());
    spec->client = client;
    if (auto checked = check(*spec); !checked) return refused(id, checked.error());
    if (auto submitted = coordinator.submit(*spec, now); !submitted)
      return refused(id, submitted.error());
    return json{{"type", "submitted"}, {"task", id}};
  }
  const std::string id = TRY(name_at(message, "task"));
  if (auto own = check_owner(coordinator, client, id); !own) return refused(id, own.error());
  if (type == "cancel") {
    const std::string cause = message.contains("cause") ? TRY(short_text_at(message, "cause")) : "";
    coordinator.cancel(id, TRY(name_at(message, "how")), cause, now);
  } else if (type == "tell") {
    if (auto told = coordinator.tell(id, TRY(object_at(message, "message"))); !told)
      return refused(id, told.error());
  } else if (type == "ack") {
    coordinator.acknowledge(id, TRY(count_at(message, "seq")), TRY(count_at(message, "position")));
  } else if (type == "forget") {
    coordinator.forget(id, now);
  } else {
    return fail(fmt::format("type: \"{}\" is nothing that a client says", type));
  }
  return json();
}

}  // namespace attune
