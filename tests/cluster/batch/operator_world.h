#pragma once
// A coordinator with an operator, and a batch system that says what the test says.
#include <catch2/catch.hpp>

#include "cluster/batch/slurm_operator.h"
#include "tests/cluster/pool/coordinator_world.h"

namespace attune::test {

class FakeBatch final : public BatchSystem {
 public:
  void submit(BatchJob job, OnSubmitted done) override {
    submitted.push_back(job);
    submissions.emplace_back(std::move(done));
  }
  void list(OnListed done) override {
    ++lists;
    listing.emplace_back(std::move(done));
  }
  void cancel(std::vector<std::string> names, OnDone done) override {
    for (const std::string& name : names) {
      cancelled.push_back(name);
      if (states.contains(name)) end(name, BatchCause::cancelled);
    }
    cancelling.emplace_back(std::move(done));
  }

  void end(const std::string& name, BatchCause cause) {
    states[name].phase = BatchPhase::ended;
    states[name].cause = cause;
  }
  // Answers everything, as `states` and `refusal` say.
  void answer() {
    const std::size_t first = submitted.size() - submissions.size();
    auto waiting = std::exchange(submissions, {});
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const std::string name = submitted[first + i].name;
      if (refusal) {
        waiting[i](std::unexpected(*refusal));
        continue;
      }
      const bool known = states.contains(name);
      if (!known) states[name].id = fmt::format("{}", ++ids);
      waiting[i](BatchAccepted{states[name].id, known});
    }
    for (const OnListed& each : std::exchange(listing, {}))
      trouble.empty() ? each(states) : each(fail(trouble));
    for (const OnDone& each : std::exchange(cancelling, {})) each({});
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const BatchJob& job : submitted) all.push_back(job.name);
    return all;
  }

  std::vector<BatchJob> submitted;
  std::vector<std::string> cancelled;
  BatchStates states;
  std::optional<BatchRefusal> refusal;
  std::string trouble;  // of lists
  int lists = 0, ids = 0;

 private:
  std::vector<OnSubmitted> submissions;
  std::vector<OnListed> listing;
  std::vector<OnDone> cancelling;
};

struct OperatorWorld : OperatorPort {
  explicit OperatorWorld(SlurmSettings::Mode mode = SlurmSettings::Mode::jobs) {
    options.settings.mode = mode;
    options.settings.prefix = "e-";
    options.settings.start_within = 120;
    options.program = "/bin/att'une";
    options.address_file = "/shared/worker.json";
    options.folder = "/shared/jobs";
    world = std::make_unique<World>();
    world->coordinator.begin(world->now);
    start();
  }
  void start() {
    auto made = std::make_unique<FakeBatch>();
    if (batch != nullptr) {
      made->states = batch->states;
      made->ids = batch->ids;
    }
    op.reset();
    batch = made.get();
    op = make_slurm_operator(options, std::move(made), *this, Log());
  }
  // Another coordinator and operator go on with what these have left.
  void restart() {
    world = world->restarted();
    REQUIRE(world);
    start();
    pass(0);
  }

  double now() const override { return world->now; }
  std::string address() const override { return "127.0.0.1:7000"; }
  void worker_unavailable(const std::string& worker, const std::string& cause) override {
    world->coordinator.worker_unavailable(worker, cause, now());
  }
  void refuse(const std::string& task, const std::string& cause) override {
    world->coordinator.refuse_waiting(task, cause, now());
  }
  void explain(const std::string& task, const std::string& why) override {
    if (!why.empty()) explained.push_back(task + ": " + why);
    world->coordinator.explain(task, why);
  }
  void changed() override {}

  void settle() {
    for (int i = 0; i < 4; ++i) {
      op->look(view_of(world->coordinator), now());
      batch->answer();
    }
  }
  void pass(double seconds) {
    world->pass(seconds);
    op->tick(now());
    settle();
  }
  void submit(const std::string& id, double cpu = 1) {
    TaskSpec spec = trial_task(id, cpu);
    if (options.settings.mode == SlurmSettings::Mode::jobs) spec.worker = id;
    REQUIRE(world->coordinator.submit(spec, now()).has_value());
    settle();
  }
  void run_job(const std::string& name) { batch->states.at(name).phase = BatchPhase::running; }
  void come(const std::string& name, double cpu = 1, const std::string& incarnation = "1") {
    run_job(name);
    REQUIRE(world->coordinator.worker_joined(worker_hello(name, cpu, incarnation), now()));
    settle();
  }
  void lose(const std::string& name) {
    world->coordinator.worker_lost(name, now());
    settle();
  }
  const Task& task(const std::string& id) const { return world->task(id); }

  SlurmOperatorOptions options;
  std::unique_ptr<World> world;
  FakeBatch* batch = nullptr;
  std::unique_ptr<Operator> op;
  std::vector<std::string> explained;
};

}  // namespace attune::test
