#include "manager/app/simulation.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <map>
#include <memory>

#include "backends/simulated/generated_curves.h"
#include "base/rng.h"

namespace attune::simulation_test {

// Proposes x = 0.1, 0.2, ..., and stops every third trial after a few epochs. It answers after
// random numbers of turns of the event loop, and as a daemon with two workers does: its proposals
// and its stops each keep their order but overtake each other. A sync waits for both.
class SlowDecider final : public Decider {
 public:
  SlowDecider(boost::asio::io_context& io, std::uint64_t seed, int trials)
      : io_(io), rng_(seed), trials_(trials) {}

  Result<void> start(Listener& listener) override {
    listener_ = &listener;
    later(tune_, [this] { listener_->on_ready(); });
    return {};
  }
  void next(int count) override {
    for (; count > 0 && made_ < trials_; --count) {
      const std::int64_t id = made_++;
      const json parameters = {{"x", 0.1 * static_cast<double>(id)}};
      later(tune_, [=, this] {
        listener_->on_proposal(
            {id, parameters, dump_json({{"parameter_id", id}, {"parameters", parameters}})});
      });
    }
    if (count > 0) later(tune_, [this] { listener_->on_exhausted("enough"); });
  }
  void on_add(const std::string&, const ProposedTrial&) override {}
  Action on_result(const std::string& job_id, const std::string&) override {
    ++results;
    if (stops && ++reports_[job_id] == 4 && job_id.back() % 3 == 0) {
      later(assess_, [this, job_id] { listener_->on_stop(job_id, "bad"); });
    }
    return Action::keep_going;
  }
  void on_complete(const std::string&, const json&) override {}
  void on_error(const std::string&) override {}
  void on_remove(const std::string&, TrialEnd::Event) override {}
  void on_paused(const std::string&, const std::string&) override {}
  void on_pause_failed(const std::string&) override {}
  void on_checkpoint(const std::string&, const std::string&) override {}
  void import(const std::vector<ImportData::Record>&) override {}
  void readopt(const std::vector<Resumed>&) override {}
  void recall(const std::vector<Resumed>&) override {}
  void update_search_space(const json&) override {}
  void sync(const std::string& token) override {
    ++syncs;
    auto waiting = std::make_shared<int>(2);
    const auto arrived = [=, this] {
      if (--*waiting == 0) listener_->on_synced(token);
    };
    later(tune_, arrived);
    later(assess_, arrived);
  }
  bool congested() const override { return false; }
  void close() override {
    later(tune_, [this] { listener_->on_closed(); });
  }
  void kill() override {}

  int syncs = 0, results = 0;
  bool stops = true;
  bool dead = false;  // answers nothing any more

 private:
  using Worker = std::vector<std::function<void()>>;

  void later(Worker& worker, std::function<void()> answer) {
    worker.push_back(std::move(answer));
    turn(worker, rng_.index(4));
  }
  // Each answer has its own turns; when they are over the worker's oldest one leaves.
  void turn(Worker& worker, std::size_t turns) {
    if (dead) return;
    boost::asio::post(io_, [this, &worker, turns] {
      if (turns > 0) return turn(worker, turns - 1);
      const auto answer = worker.front();
      worker.erase(worker.begin());
      answer();
    });
  }

  boost::asio::io_context& io_;
  Rng rng_;
  int trials_;
  std::int64_t made_ = 0;
  Listener* listener_ = nullptr;
  Worker tune_, assess_;
  std::map<std::string, int> reports_;
};

// The least of a trial runner: so many trials at once until there are no more.
class SmallRunner final : public Decider::Listener {
 public:
  SmallRunner(Decider& decider, SimulatedBackend& backend, const Clock& clock)
      : decider_(decider), backend_(backend), clock_(clock) {}

  void pump() {
    for (const TrialEvent& event : backend_.fetch_status_results()) {
      if (const auto* report = std::get_if<TrialReport>(&event)) {
        log += fmt::format("{} {}\n", clock_.now(), report->text);
        if (!report->late) decider_.on_result(report->job_id, report->text);
      } else if (const auto* end = std::get_if<TrialFinished>(&event)) {
        log += fmt::format("{} {} {}\n", clock_.now(), end->job_id, end->detail);
        decider_.on_complete(end->job_id, nullptr);
        --running;
        if (!exhausted) decider_.next(1);
      }
    }
    if (deadline && clock_.now() > *deadline) {
      log += fmt::format("{:.3f} deadline\n", clock_.now());
      deadline.reset();
      backend_.kill_all();
      exhausted = true;
    }
    if (exhausted && running == 0 && !closing) {
      closing = true;
      decider_.close();
    }
  }
  bool done() const { return closed; }

  void on_ready() override { decider_.next(3); }
  void on_resumed() override { decider_.next(3); }
  void on_postponed(const std::string&) override {}
  void on_warning(const std::string&) override {}
  void on_proposal(ProposedTrial proposal) override {
    const std::string job = fmt::format("t{}", started++);
    log += fmt::format("{} start {} {}\n", clock_.now(), job, proposal.text);
    TrialStart start;
    start.job_id = job;
    start.sequence = started;
    start.parameter_text = proposal.text;
    REQUIRE(backend_.start(start).has_value());
    ++running;
    decider_.on_add(job, proposal);
  }
  void on_exhausted(const std::string&) override { exhausted = true; }
  void on_stop(const std::string& job_id, const std::string&) override {
    log += fmt::format("{} stop {}\n", clock_.now(), job_id);
    backend_.stop(job_id);
  }
  void on_parameter(const std::string&, std::int64_t, std::optional<ProposedTrial>) override {}
  void on_pause(const std::string&, const std::string&) override {}
  void on_save(const std::string&) override {}
  void on_drop(const std::string&) override {}
  void on_synced(const std::string&) override {}
  void on_failure(Error) override { closed = true; }
  void on_closed() override { closed = true; }

  std::string log;
  std::optional<double> deadline;
  int started = 0, running = 0;
  bool exhausted = false, closing = false, closed = false;

 private:
  Decider& decider_;
  SimulatedBackend& backend_;
  const Clock& clock_;
};

struct World {
  explicit World(std::uint64_t latency_seed, double seconds_ratio = 1)
      : backend({}, curves(seconds_ratio), clock), slow(io, latency_seed, 20) {
    REQUIRE(decider.start(runner).has_value());
  }
  static std::unique_ptr<CurveSource> curves(double seconds_ratio) {
    GeneratedCurvesOptions options;
    options.search_space = json::parse(R"({"x": {"_type": "uniform", "_value": [0, 2]}})");
    options.epochs = 9;
    options.seconds_ratio = seconds_ratio;
    return generated_curves(options);
  }
  Result<void> run() {
    return simulate(io,
                    {.wake = [this] { ++wakes; },
                     .pump = [this] { runner.pump(); },
                     .next_deadline = [this] { return runner.deadline; },
                     .done = [this] { return runner.done(); }},
                    decider, backend, clock);
  }

  boost::asio::io_context io;
  ManualClock clock;
  SimulatedBackend backend;
  SlowDecider slow;
  SyncedDecider decider{slow};
  SmallRunner runner{decider, backend, clock};
  int wakes = 0;
};

TEST_CASE("simulation: how long the decider takes changes nothing") {
  World reference(0);
  REQUIRE(reference.run().has_value());
  CHECK(reference.runner.started == 20);
  CHECK(reference.runner.log.find("stop t3") != std::string::npos);
  CHECK(reference.wakes > 0);
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    World world(seed);
    REQUIRE(world.run().has_value());
    REQUIRE(world.runner.log == reference.runner.log);
  }
}

TEST_CASE("simulation: a sync is for all that happens at one time") {
  World together(1), apart(1, 4);
  together.slow.stops = apart.slow.stops = false;
  REQUIRE(together.run().has_value());
  REQUIRE(apart.run().has_value());
  // Three trials at once; with epochs of the same length they start, report and end together.
  CHECK(together.slow.results == 20 * 10);
  CHECK(together.slow.syncs < 100);
  CHECK(apart.slow.results == 20 * 10);
  CHECK(apart.slow.syncs > 200);
}

TEST_CASE("simulation: the runner's deadlines are on the virtual clock") {
  World world(1);
  world.slow.stops = false;
  world.runner.deadline = 4.5;
  REQUIRE(world.run().has_value());
  CHECK(world.runner.log.find("4.500 deadline\n") != std::string::npos);
  CHECK(world.runner.started == 3);
  CHECK(world.clock.now() == Approx(4.5));
}

TEST_CASE("simulation: what can never end is an error") {
  World silent(1);
  silent.slow.dead = true;
  const auto waiting = silent.run();
  REQUIRE_FALSE(waiting.has_value());
  CHECK(waiting.error().message == "the decider neither answers nor ends");

  World idle(1);
  idle.runner.closing = true;  // so that it never closes the decider
  const auto stands_still = idle.run();
  REQUIRE_FALSE(stands_still.has_value());
  CHECK(stands_still.error().message.find("stands still") != std::string::npos);
}

TEST_CASE("simulation: a decider that dies has settled") {
  World world(1);
  static_cast<Decider&>(world.decider).kill();
  CHECK(world.decider.settled());
}

}  // namespace attune::simulation_test
