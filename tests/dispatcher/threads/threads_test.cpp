// The workers on real threads: order, back-pressure, failure, and every way to stop.
#include <catch2/catch.hpp>
#include <future>

#include "dispatcher/threads.h"
#include "tests/support/scripted_assessor.h"
#include "tests/support/scripted_tuner.h"

namespace attune::threads_test {

// Counts wake-ups and lets the test wait for the next one.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    ++rung_;
    changed_.notify_all();
  }
  void wait_past(int seen) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, std::chrono::seconds(200), [&] { return rung_ > seen; }));
  }
  int count() {
    const std::lock_guard lock(mutex_);
    return rung_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int rung_ = 0;
};

// Throws when asked; or blocks in ask() until released.
class TroubledTuner : public ScriptedTuner {
 public:
  std::atomic<bool> throws = false;
  std::promise<void> entered, release;
  bool blocks = false;

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    if (throws) throw std::runtime_error("no memory");
    if (blocks) {
      entered.set_value();
      release.get_future().wait();
      blocks = false;
    }
    return ScriptedTuner::ask(ids);
  }
};

struct Fixture {
  explicit Fixture(WorkerThreads::Limits limits = {}) {
    auto owned = std::make_unique<TroubledTuner>();
    tuner = owned.get();
    threads = std::make_unique<WorkerThreads>(
        TuneWorker(Session(std::move(owned), Objective{}, Log()), Log()),
        AssessWorker(std::make_unique<ScriptedAssessor>(), Log()), limits, clock);
    threads->start([this] { bell.ring(); });
    push(SetSpace{*parse_json(R"({"x":{"_type":"uniform","_value":[0,1]}})"), true});
  }
  ~Fixture() {
    threads->drop_requests();
    threads->drop_reports();
    threads->close_assess();
    threads->close_tune();
    threads->join();
  }
  void push(TuneMessage message, std::size_t bytes = 100) {
    REQUIRE(threads->try_push(message, bytes));
    threads->wake();
  }
  WorkerMessage next() {
    while (true) {
      const int seen = bell.count();
      if (auto said = threads->take()) return std::move(said->message);
      bell.wait_past(seen);
    }
  }

  TroubledTuner* tuner = nullptr;
  ManualClock clock;
  Bell bell;
  std::unique_ptr<WorkerThreads> threads;
};

template <class T>
T expect(WorkerMessage message) {
  REQUIRE(std::holds_alternative<T>(message));
  return std::get<T>(std::move(message));
}

TEST_CASE("answers come in order, whatever the timing") {
  Fixture f;
  for (TrialId i = 0; i < 2000; ++i) f.push(AskTrials{i, i, 1});
  expect<SpaceSet>(f.next());
  for (TrialId i = 0; i < 2000; ++i) REQUIRE(expect<Offer>(f.next()).trial == i);
}

TEST_CASE("a full queue refuses, and says when there is room") {
  Fixture f({.queue_bytes = 1000, .output_bytes = 1 << 20});
  expect<SpaceSet>(f.next());
  f.tuner->blocks = true;
  f.push(AskTrials{0, 0, 1}, 400);
  f.tuner->entered.get_future().wait();
  f.push(AskTrials{1, 1, 1}, 900);
  TuneMessage refused = AskTrials{2, 2, 1};
  CHECK_FALSE(f.threads->try_push(refused, 900));
  CHECK(std::get<AskTrials>(refused).first == 2);
  int seen = f.bell.count();
  f.tuner->release.set_value();
  while (!f.threads->try_push(refused, 900)) {
    f.bell.wait_past(seen);
    seen = f.bell.count();
  }
  f.threads->wake();
  for (TrialId i = 0; i < 3; ++i) CHECK(expect<Offer>(f.next()).trial == i);
}

TEST_CASE("workers wait while nobody takes their answers, and lose none") {
  Fixture f({.queue_bytes = 1 << 20, .output_bytes = 4096});
  for (TrialId i = 0; i < 500; ++i) f.push(AskTrials{i, i, 1});
  expect<SpaceSet>(f.next());
  for (TrialId i = 0; i < 500; ++i) REQUIRE(expect<Offer>(f.next()).trial == i);
}

TEST_CASE("closing drains, then each worker says that it has finished") {
  Fixture f;
  for (TrialId i = 0; i < 100; ++i) f.push(AskTrials{i, i, 1});
  f.threads->close_assess();
  f.threads->close_tune();
  TuneMessage late = AskTrials{100, 100, 1};
  CHECK_FALSE(f.threads->try_push(late, 1));
  int offers = 0, finished = 0;
  while (finished < 2) {
    const auto message = f.next();
    offers += std::holds_alternative<Offer>(message);
    finished += std::holds_alternative<Finished>(message);
  }
  CHECK(offers == 100);
}

TEST_CASE("requests that are dropped are not answered, what is in hand is") {
  Fixture f;
  expect<SpaceSet>(f.next());
  f.tuner->blocks = true;
  for (TrialId i = 0; i < 100; ++i) f.push(AskTrials{i, i, 1});
  f.tuner->entered.get_future().wait();
  f.threads->drop_requests();
  f.threads->close_assess();
  f.threads->close_tune();
  f.tuner->release.set_value();
  int offers = 0, finished = 0;
  while (finished < 2) {
    const auto message = f.next();
    offers += std::holds_alternative<Offer>(message);
    finished += std::holds_alternative<Finished>(message);
  }
  CHECK(offers == 1);
}

TEST_CASE("what the workers have worked since they saved their states is known") {
  class SlowTuner : public ScriptedTuner {
   public:
    explicit SlowTuner(ManualClock& clock) : clock_(clock) {}
    std::vector<Answer> ask(std::span<const TrialId> ids) override {
      clock_.advance(static_cast<double>(ids.size()));
      return ScriptedTuner::ask(ids);
    }
    json save() const override {
      clock_.advance(0.25);
      return ScriptedTuner::save();
    }

   private:
    ManualClock& clock_;
  };
  ManualClock clock;
  WorkerThreads threads(
      TuneWorker(Session(std::make_unique<SlowTuner>(clock), Objective{}, Log()), Log()),
      AssessWorker(nullptr, Log()), {}, clock);
  const auto step = [&](TuneMessage message) {
    threads.push_over_limit(std::move(message), 100);
    REQUIRE(threads.step(WorkerName::tune));
  };
  step(SetSpace{*parse_json(R"({"x":{"_type":"uniform","_value":[0,1]}})"), true});
  step(AskTrials{0, 0, 40});
  CHECK(threads.unsaved_seconds() == 16);
  REQUIRE(threads.step(WorkerName::tune));
  CHECK(threads.unsaved_seconds() == 32);
  CHECK(threads.saving_seconds() == 0);
  threads.push_first(TuneMessage(SaveState{}), 100, [](const TuneMessage&, std::size_t) {});
  REQUIRE(threads.step(WorkerName::tune));
  CHECK(threads.unsaved_seconds() == 0);
  CHECK(threads.saving_seconds() == 0.25);
  REQUIRE(threads.step(WorkerName::tune));
  CHECK(threads.unsaved_seconds() == 8);
}

TEST_CASE("a worker that fails says so at once") {
  Fixture f;
  expect<SpaceSet>(f.next());
  f.tuner->throws = true;
  f.push(AskTrials{0, 0, 1});
  const auto failed = expect<Failed>(f.next());
  CHECK(failed.exit_code == kExitInternal);
  CHECK(failed.message == "internal error in a worker: no memory");
  expect<Finished>(f.next());
}

}  // namespace attune::threads_test
