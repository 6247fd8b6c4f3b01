#pragma once
// A coordinator and workers with real trials in one process; what they say to each other goes
// through the text of the messages, when the test delivers it.
#include <deque>
#include <map>

#include "cluster/pool/messages.h"
#include "tests/backends/local/gate.h"
#include "tests/cluster/pool/test_trials.h"
#include "tests/support/run_until.h"

namespace attune::test {

class PoolInProcess : public CoordinatorEffects {
 public:
  PoolInProcess() { coordinator.begin(now); }

  // ---- CoordinatorEffects
  void append(const Record& record) override { records.push_back(record); }
  void applied(const Record&, const Task*) override {}
  void lease(const Task& task, bool again) override {
    to_worker(task.worker, lease_message(task, again, ""));
  }
  void cancel(const std::string& worker, const HeldLease& held, const std::string& how) override {
    to_worker(worker, cancel_message(held, how));
  }
  void tell(const Task& task, const json& message) override {
    to_worker(task.worker, tell_message(task, message));
  }
  void say_again(const Task& task) override { to_worker(task.worker, say_again_message(task)); }
  void acknowledge_info(const std::string& worker, const HeldLease& held,
                        std::uint64_t seq) override {
    to_worker(worker, info_ack_message(held, seq));
  }
  void acknowledge_end(const std::string& worker, const HeldLease& held) override {
    to_worker(worker, finished_ack_message(held));
  }
  void dismiss(const std::string&) override {}
  void state_changed(const Task& task) override { heard.push_back(state_message(task, now)); }
  void info(const Task& task, std::uint64_t seq, const json& event) override {
    heard.push_back(info_message(task, seq, event));
    if (acknowledge) acknowledged.push_back({task.spec.id, seq, event.value("position", 0u)});
  }

  // ---- workers
  struct Played {
    std::unique_ptr<WorkerTasks> tasks;
    std::deque<std::string> inbox, outbox;
    bool connected = false;
  };
  // A new process of this name.
  void start_worker(const std::string& id, double cpu = 2) {
    Played& worker = workers[id];
    worker.inbox.clear();
    worker.outbox.clear();
    // An earlier process may have had larger numbers.
    worker.tasks = std::make_unique<WorkerTasks>(io, local_backends(io, folder.path, command),
                                                 first_seq -= 1'000'000);
    ++incarnations;
    hellos[id] = worker_hello(id, cpu, fmt::format("{}", incarnations));
    connect(id);
  }
  void connect(const std::string& id) {
    Played& worker = workers.at(id);
    WorkerHello hello = hellos.at(id);
    hello.running = worker.tasks->running();
    const auto parsed = parse_worker_hello(*parse_json(dump_json(to_json(hello))));
    REQUIRE(parsed.has_value());
    worker.inbox.clear();
    REQUIRE(coordinator.worker_joined(*parsed, now).has_value());
    worker.connected = true;
    worker.tasks->connected([&worker](const json& m) { worker.outbox.push_back(dump_json(m)); });
  }
  void cut(const std::string& id) {
    Played& worker = workers.at(id);
    worker.tasks->disconnected();
    worker.connected = false;
    worker.inbox.clear();
    worker.outbox.clear();
    coordinator.worker_lost(id, now);
  }
  void kill_worker(const std::string& id) {
    cut(id);
    workers.at(id).tasks.reset();  // its trials run on
  }

  // ---- tasks
  TaskSpec trial(int sequence, int attempt = 0) {
    return trial_spec(folder.path, sequence, attempt);
  }
  // Delivers until `enough()`.
  bool run_until(const std::function<bool()>& enough) {
    return test::run_until(io, [&] {
      while (!enough()) {
        if (!deliver()) return false;
      }
      return true;
    });
  }
  bool ended(const std::string& id) const {
    const auto found = coordinator.board().tasks().find(id);
    return found == coordinator.board().tasks().end() || is_end(found->second.state);
  }
  // What the client has heard of the trial's reports: the positions, each once.
  std::vector<std::string> reports(const std::string& id) const { return report_values(heard, id); }

  TemporaryFolder folder;
  std::string command;
  double now = 1000;
  bool acknowledge = true;
  boost::asio::io_context io;
  Coordinator coordinator{{}, nullptr, *this};
  std::vector<Record> records;
  std::vector<json> heard;  // by the client
  std::map<std::string, Played> workers;

 private:
  struct Acknowledged {
    std::string task;
    std::uint64_t seq, position;
  };

  void to_worker(const std::string& id, const json& message) {
    const auto found = workers.find(id);
    if (found != workers.end() && found->second.tasks)
      found->second.inbox.push_back(dump_json(message));
  }
  bool deliver() {
    bool any = false;
    for (const Acknowledged& each : std::exchange(acknowledged, {}))
      coordinator.acknowledge(each.task, each.seq, each.position);
    for (auto& [id, worker] : workers) {
      while (worker.connected && !worker.inbox.empty()) {
        const std::string text = std::exchange(worker.inbox.front(), {});
        worker.inbox.pop_front();
        const auto handled = worker.tasks->handle(*parse_json(text));
        INFO(text);
        REQUIRE(handled.has_value());
        any = true;
      }
      while (worker.connected && !worker.outbox.empty()) {
        const std::string text = std::exchange(worker.outbox.front(), {});
        worker.outbox.pop_front();
        const auto handled = hear_worker(coordinator, id, *parse_json(text), now);
        INFO(text);
        REQUIRE(handled.has_value());
        any = true;
      }
    }
    return any;
  }

  std::uint64_t incarnations = 0, first_seq = 1'000'000'000;
  std::map<std::string, WorkerHello> hellos;
  std::deque<Acknowledged> acknowledged;
};

}  // namespace attune::test
