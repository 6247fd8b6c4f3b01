#pragma once
// A dispatcher whose workers lag behind in every way that threads can, and its journal replayed.
#include <catch2/catch.hpp>
#include <functional>

#include "assessors/registry.h"
#include "dispatcher/journal_frames.h"
#include "dispatcher/replay.h"
#include "tests/support/busy_manager.h"
#include "tests/support/halving_tuner.h"
#include "tests/support/memory_journal.h"
#include "tuners/registry.h"

namespace attune::replay_test {

inline const std::string kSpace =
    R"({"x": {"_type": "uniform", "_value": [0, 1]}, "n": {"_type": "randint", "_value": [1, 9]}})";

inline const std::string kUniform = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";

inline const std::string kChoices =
    R"({"x": {"_type": "choice", "_value": [1, 2, 3]}, "n": {"_type": "choice", "_value": [1, 9]}})";

inline const std::string& space_for(const std::string& tuner) {
  if (tuner == "PPO") return kChoices;  // takes nothing else
  return tuner == "halving" ? kUniform : kSpace;
}

struct Algorithms {
  std::string tuner = "TPE";  // "halving": the one of the tests, which pauses
  std::string assessor = "Medianstop";
  bool include_intermediate = false;
  json assessor_arguments = json::object();
  bool pauses = false;  // the manager can pause
  // Its answers follow from the calls. Else, what was queued at the end may now be judged
  // otherwise.
  bool deterministic = true;
  // Puts something around the algorithms, unless empty.
  std::function<std::unique_ptr<Tuner>(std::unique_ptr<Tuner>, bool wants_reports)> wrap = {};
  std::function<std::unique_ptr<Assessor>(std::unique_ptr<Assessor>)> wrap_assessor = {};
  json tuner_arguments = {{"seed", 5}};
  TunerRegistry tuners = builtin_tuners();
};

// A dispatcher and workers that step.
struct Parts {
  explicit Parts(const Algorithms& which, std::size_t queue_bytes = 1 << 20) {
    const bool halving = which.tuner == "halving";
    MadeTuner made;
    made.tuner = std::make_unique<HalvingTuner>(16);
    made.wants_reports = true;
    if (!halving) {
      made = make_tuner(which.tuners, which.tuner, which.tuner_arguments, {}, 1).value();
    }
    std::unique_ptr<Assessor> assessor;
    if (!which.assessor.empty()) {
      json arguments = which.assessor_arguments;
      if (which.assessor == "Medianstop") arguments["start_step"] = 1;
      assessor = make_assessor(builtin_assessors(), which.assessor, arguments, {}, 1).value();
    }
    if (which.wrap) made.tuner = which.wrap(std::move(made.tuner), made.wants_reports);
    if (which.wrap_assessor && assessor) assessor = which.wrap_assessor(std::move(assessor));
    DispatcherOptions options{.capabilities = {.sync = true,
                                               .pause = halving || which.pauses,
                                               .checkpoint = halving,
                                               .reason = true},
                              .wants_reports = made.wants_reports,
                              .has_assessor = assessor != nullptr,
                              .include_intermediate = which.include_intermediate};
    workers = std::make_unique<WorkerThreads>(
        TuneWorker(Session(std::move(made.tuner), Objective{"default", made.maximize}, Log()),
                   Log()),
        AssessWorker(std::move(assessor), Log()), WorkerThreads::Limits{.queue_bytes = queue_bytes},
        clock);
    dispatcher = std::make_unique<Dispatcher>(options, *workers, Log());
  }
  ManualClock clock;
  std::unique_ptr<WorkerThreads> workers;
  std::unique_ptr<Dispatcher> dispatcher;
};

// Runs a session in which every order of events that the threads allow may come up.
struct Live : Parts, Sink {
  // Every other seed has queues that take one message at a time.
  Live(const Algorithms& which, std::uint64_t seed)
      : Parts(which, seed % 2 == 0 ? 1 : 1 << 20),
        rng(seed),
        manager(space_for(which.tuner), 4, seed) {
    dispatcher->attach(*this, journal);
  }

  void run(int commands) {
    for (int said = 0; said < commands;) {
      switch (rng.index(5)) {
        case 0:
          if (dispatcher->blocked()) {
            dispatcher->resume();
            break;
          }
          ++said;
          held_back += dispatcher->accept(manager.next()) ? 0 : 1;
          break;
        case 1:
          step(WorkerName::tune);
          break;
        case 2:
          step(WorkerName::assess);
          break;
        case 3:
          handle(rng.index(2) == 0 ? WorkerName::tune : WorkerName::assess);
          break;
        default:
          if (said > 3 && !dispatcher->saving() && rng.index(6) == 0) dispatcher->save();
      }
    }
    while (step(WorkerName::tune) || step(WorkerName::assess) || handle(WorkerName::tune) ||
           handle(WorkerName::assess) || (dispatcher->blocked() && dispatcher->resume())) {
    }
  }

  bool step(WorkerName worker) {
    if (!workers->step(worker)) return false;
    while (auto output = workers->take()) {
      (output->from == WorkerName::tune ? tune_said : assess_said)
          .push_back(std::move(output->message));
    }
    return true;
  }

  // io takes the next message of a worker.
  bool handle(WorkerName worker) {
    auto& said = worker == WorkerName::tune ? tune_said : assess_said;
    if (said.empty()) return false;
    WorkerMessage message = std::move(said.front());
    said.pop_front();
    dispatcher->on_worker(worker, std::move(message));
    return true;
  }

  void send(Frame frame) override {
    if (frame.code != "ID") manager.hear(frame);
  }
  void fatal(ExitCode, const std::string& message) override { FAIL(message); }
  void save(json state) override {
    if (!state["tuner"].is_null()) snapshots.emplace_back(journal.marks.back(), dump_json(state));
  }
  void terminate() override {}

  MemoryJournal journal;
  std::vector<std::pair<std::size_t, std::string>> snapshots;  // after so many records
  Rng rng;
  BusyManager manager;
  std::deque<WorkerMessage> tune_said, assess_said;
  int held_back = 0;  // commands for which a queue had no room at first
};

inline std::string encode(std::span<const JournalRecord> records) {
  std::string bytes;
  for (const auto& record : records) encode_record(record.kind, record.payload, bytes);
  return bytes;
}

inline std::string header() {
  std::string bytes;
  encode_record(RecordKind::header, "{}", bytes);
  return bytes;
}

struct Again : Parts {
  Again(const Algorithms& which, const std::string& bytes, std::uint64_t received = 0)
      : Parts(which), replay(*dispatcher, *workers, received) {
    RecordScanner records(bytes);
    REQUIRE(records.next().value());
    result = replay.run(records);
  }
  Replay replay;
  Result<void> result;
};

// How often queues had no room for a command, and trials were paused.
struct Seen {
  int held_back = 0, pauses = 0;
};

// Replays what `seeds` sessions of so many commands wrote, whole and from each of their snapshots.
inline Seen check_replays(const Algorithms& which, std::uint64_t seeds, int commands) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(which.tuner, which.assessor, which.include_intermediate, seed);
    Live live(which, seed);
    live.run(commands);
    seen.held_back += live.held_back;
    seen.pauses += live.manager.pauses;
    const std::span records = live.journal.records;
    Again whole(which, header() + encode(records));
    if (!whole.result) FAIL(whole.result.error().message);
    CHECK(whole.replay.fresh().empty());
    if (which.deterministic) CHECK(whole.replay.take_leftovers().empty());
    CHECK(whole.dispatcher->answers() == live.dispatcher->answers());
    CHECK_FALSE(live.snapshots.empty());
    for (const auto& [mark, state] : live.snapshots) {
      std::string bytes = header();
      encode_record(RecordKind::snapshot, state, bytes);
      Again from(which, bytes + encode(records.subspan(mark)));
      if (!from.result)
        FAIL("from the snapshot at " << mark << ": " << from.result.error().message);
      CHECK(from.replay.fresh().empty());
      if (which.deterministic) CHECK(from.replay.take_leftovers().empty());
      CHECK(from.dispatcher->answers() == live.dispatcher->answers());
    }
  }
  return seen;
}

}  // namespace attune::replay_test
