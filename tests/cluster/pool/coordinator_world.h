#pragma once
// A coordinator with everybody around it played by the test: what it says is written down as text.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "cluster/pool/coordinator.h"

namespace attune::test {

class WrittenEffects final : public CoordinatorEffects {
 public:
  void append(const Record& record) override { records.push_back(record); }
  void applied(const Record&, const Task*) override {}
  void lease(const Task& task, bool again) override {
    say("{}: lease {} {} attempt {}{}", task.worker, task.spec.id, to_text(task.state),
        task.attempt, again ? " again" : "");
  }
  void cancel(const std::string& worker, const HeldLease& lease, const std::string& how) override {
    say("{}: cancel {} {}", worker, lease.task, how);
  }
  void tell(const Task& task, const json& message) override {
    say("{}: tell {} {}", task.worker, task.spec.id, dump_json(message));
  }
  void say_again(const Task& task) override { say("{}: say again {}", task.worker, task.spec.id); }
  void acknowledge_info(const std::string& worker, const HeldLease& lease,
                        std::uint64_t seq) override {
    say("{}: info_ack {} {}", worker, lease.task, seq);
  }
  void acknowledge_end(const std::string& worker, const HeldLease& lease) override {
    say("{}: end_ack {}", worker, lease.task);
  }
  void dismiss(const std::string& worker) override { say("{}: dismiss", worker); }
  void state_changed(const Task& task) override {
    say("client: {} {}{}", task.spec.id, to_text(task.state),
        task.cause.empty() ? "" : ": " + task.cause);
  }
  void info(const Task& task, std::uint64_t seq, const json& event) override {
    say("client: info {} {} {}", task.spec.id, seq, dump_json(event));
  }

  // What was said since, without the word to clients that is only about states.
  std::vector<std::string> take(bool states = false) {
    std::vector<std::string> lines;
    for (std::string& line : std::exchange(said, {})) {
      if (states || !line.starts_with("client: ") || line.starts_with("client: info"))
        lines.push_back(std::move(line));
    }
    return lines;
  }

  std::vector<Record> records;
  std::vector<std::string> said;

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    said.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
};

inline TaskSpec trial_task(const std::string& id, double cpu = 1) {
  TaskSpec spec;
  spec.id = id;
  spec.kind = "trial";
  spec.client = "c";
  spec.needs.cpu = cpu;
  return spec;
}

// Keys as peers have them, which differ in their beginning.
inline std::string test_key(const std::string& of) {
  std::string key = fmt::format("{:08x}", crc32c(of));
  key.resize(64, '7');
  return key;
}

inline WorkerHello worker_hello(const std::string& id, double cpu = 1,
                                const std::string& incarnation = "1") {
  WorkerHello hello;
  hello.id = id;
  hello.key = test_key(id);
  hello.incarnation = incarnation;
  hello.host = "host";
  hello.pid = 42;
  hello.capacity.cpu = cpu;
  return hello;
}

struct World {
  explicit World(std::unique_ptr<Commander> commander = nullptr)
      : coordinator(CoordinatorOptions{}, std::move(commander), effects) {}

  // As another one would go on with what this one has written down.
  std::unique_ptr<World> restarted(std::unique_ptr<Commander> commander = nullptr) const {
    auto next = std::make_unique<World>(std::move(commander));
    for (const Record& record : effects.records) {
      const auto text = decode_record(encode_record(record));
      if (!text || !next->coordinator.replay(*text)) return nullptr;
    }
    next->effects.records = effects.records;
    next->coordinator.begin(now);
    return next;
  }

  const Task& task(const std::string& id) const { return coordinator.board().tasks().at(id); }
  HeldLease held(const std::string& id) const { return {id, task(id).lease}; }
  void start(const std::string& id) { coordinator.started(task(id).worker, held(id), now); }
  void finish(const std::string& id, TaskState state = TaskState::succeeded) {
    coordinator.finished(std::string(task(id).worker), held(id), state, "cause", "report", now);
  }
  void pass(double seconds) {
    now += seconds;
    coordinator.tick(now);
  }

  double now = 1000;
  WrittenEffects effects;
  Coordinator coordinator;
};

}  // namespace attune::test
