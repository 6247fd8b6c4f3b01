// Workers, clients and programs that say anything in any order, one message a line behind a letter
// for who says it: they are answered or cut off, no worker is given more than it has, and what the
// journal has afterwards makes the same coordinator.
#include <boost/asio/io_context.hpp>
#include <cmath>
#include <map>
#include <tuple>

#include "cluster/pool/trial_event.h"
#include "cluster/pool/worker/worker_tasks.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzzed_coordinator.h"

using namespace attune;

namespace {

class Conversation {
 public:
  Conversation() { world_.coordinator.begin(now_); }

  void hear(char who, const json& message) {
    Coordinator& coordinator = world_.coordinator;
    switch (who) {
      case 'h':
        if (const auto hello = parse_worker_hello(message)) {
          ATTUNE_CHECK(dump_json(to_json(*parse_worker_hello(to_json(*hello)))) ==
                       dump_json(to_json(*hello)));
          [[maybe_unused]] const auto joined = coordinator.worker_joined(*hello, now_);
        }
        break;
      case 'a':
      case 'b':
        std::ignore = hear_worker(coordinator, std::string(1, who), message, now_);
        break;
      case 'l':
      case 'm':
        coordinator.worker_lost(who == 'l' ? "a" : "b", now_);
        break;
      case 'c':
      case 'd':
        std::ignore = hear_client(
            coordinator, std::string(1, who), message,
            [&](const TaskSpec& task) { return world_.buffers.check(task); }, now_);
        break;
      case 'j':
        std::ignore = coordinator.client_joined("c", std::string(64, 'c'), now_);
        break;
      case 'p':
      case 'q':
        if (const Task* task = oldest_that_runs())
          std::ignore = world_.buffers.hear(who == 'p' ? 1 : 2, *task, message);
        break;
      case 'g':
        world_.buffers.gone(1);
        break;
      case 't':
        now_ += 7;
        coordinator.tick(now_);
        break;
      case 'e':
        if (const auto event = parse_trial_event("t", message))
          ATTUNE_CHECK(parse_trial_event("t", *parse_json(dump_json(to_json(*event)))));
        break;
      default:
        break;
    }
    check();
  }

  // What the journal has, as another coordinator reads it.
  void restart() const {
    FuzzedCoordinator next;
    for (const std::string& record : world_.records)
      ATTUNE_CHECK(next.replay(parse_json(record).value()).has_value());
    ATTUNE_CHECK(without_positions(next.save()) == without_positions(world_.save()));
    FuzzedCoordinator loaded;
    ATTUNE_CHECK(loaded.load(parse_json(dump_json(world_.save())).value()).has_value());
    ATTUNE_CHECK(dump_json(loaded.save()) == dump_json(world_.save()));
    next.coordinator.begin(now_);
  }

 private:
  // What clients have acknowledged is in snapshots only: it spares work, and may be forgotten.
  static std::string without_positions(json state) {
    for (json& task : state["board"]["tasks"]) task.erase("position");
    return dump_json(state);
  }
  const Task* oldest_that_runs() const {
    const Task* oldest = nullptr;
    for (const auto& [id, task] : world_.coordinator.board().tasks()) {
      const bool runs = task.state != TaskState::queued && !is_end(task.state);
      if (runs && (oldest == nullptr || task.order < oldest->order)) oldest = &task;
    }
    return oldest;
  }
  void check() const {
    std::map<std::string, std::size_t> leased;
    std::size_t queued = 0;
    for (const auto& [id, task] : world_.coordinator.board().tasks()) {
      if (task.state == TaskState::queued) ++queued;
      if (task.state == TaskState::queued || is_end(task.state)) continue;
      const auto& workers = world_.coordinator.workers().workers();
      ATTUNE_CHECK(workers.contains(task.worker) && workers.at(task.worker).tasks.contains(id));
      ++leased[task.worker];
    }
    ATTUNE_CHECK(world_.coordinator.queue().size() + world_.coordinator.pausing() == queued);
    for (const auto& [id, worker] : world_.coordinator.workers().workers())
      ATTUNE_CHECK(worker.tasks.size() == leased[id] && std::isfinite(worker.used.cpu));
  }

  FuzzedCoordinator world_;
  double now_ = 1000;
};

// The other side: a worker on a machine that cannot run anything.
void tell_worker(WorkerTasks& tasks, const json& message) {
  if (tasks.handle(message)) ATTUNE_CHECK(tasks.running().size() <= tasks.taken());
}

}  // namespace

FUZZ_TARGET(input) {
  boost::asio::io_context io;
  WorkerTasks tasks(
      io,
      [](const std::string&, const std::function<void()>&)
          -> Result<std::unique_ptr<TrialBackend>> { return fail("this machine cannot"); },
      1);
  tasks.connected([](const json& said) { ATTUNE_CHECK(encode_json_frame(said).has_value()); });
  Conversation conversation;
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(line.size() + 1, input.size()));
    if (line.empty()) continue;
    const std::string_view text = line.size() == 1 ? "{}" : line.substr(1);
    const auto message = parse_json(text, JsonFrameLimits{}.json);
    if (!message || !message->is_object()) continue;
    line[0] == 'k' ? tell_worker(tasks, *message) : conversation.hear(line[0], *message);
  }
  conversation.restart();
}
