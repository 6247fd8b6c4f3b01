// A dispatcher whose workers lag behind in every way that threads can, and its journal replayed:
// from the start and from snapshots, whole and cut off anywhere.
#include "dispatcher/replay.h"

#include <catch2/catch.hpp>

#include "assessors/registry.h"
#include "dispatcher/journal_frames.h"
#include "tests/support/busy_manager.h"
#include "tests/support/halving_tuner.h"
#include "tests/support/memory_journal.h"
#include "tuners/registry.h"

namespace attune::replay_test {

const std::string kSpace =
    R"({"x": {"_type": "uniform", "_value": [0, 1]}, "n": {"_type": "randint", "_value": [1, 9]}})";

const std::string kUniform = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";

const std::string kChoices =
    R"({"x": {"_type": "choice", "_value": [1, 2, 3]}, "n": {"_type": "choice", "_value": [1, 9]}})";

const std::string& space_for(const std::string& tuner) {
  if (tuner == "PPO") return kChoices;  // takes nothing else
  return tuner == "halving" ? kUniform : kSpace;
}

struct Algorithms {
  std::string tuner = "TPE";  // "halving": the one of the tests, which pauses
  std::string assessor = "Medianstop";
  bool include_intermediate = false;
  json assessor_arguments = json::object();
  bool pauses = false;  // the manager can pause
};

// A dispatcher and workers that step.
struct Parts {
  explicit Parts(const Algorithms& which, std::size_t queue_bytes = 1 << 20) {
    const bool halving = which.tuner == "halving";
    MadeTuner made;
    made.tuner = std::make_unique<HalvingTuner>(16);
    made.wants_reports = true;
    if (!halving) {
      made = make_tuner(builtin_tuners(), which.tuner, {{"seed", 5}}, {}, 1).value();
    }
    std::unique_ptr<Assessor> assessor;
    if (!which.assessor.empty()) {
      json arguments = which.assessor_arguments;
      if (which.assessor == "Medianstop") arguments["start_step"] = 1;
      assessor = make_assessor(builtin_assessors(), which.assessor, arguments, {}, 1).value();
    }
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

std::string encode(std::span<const JournalRecord> records) {
  std::string bytes;
  for (const auto& record : records) encode_record(record.kind, record.payload, bytes);
  return bytes;
}

std::string header() {
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
Seen check_replays(const Algorithms& which, std::uint64_t seeds, int commands) {
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
    CHECK(whole.replay.take_leftovers().empty());
    CHECK(whole.dispatcher->answers() == live.dispatcher->answers());
    CHECK_FALSE(live.snapshots.empty());
    for (const auto& [mark, state] : live.snapshots) {
      std::string bytes = header();
      encode_record(RecordKind::snapshot, state, bytes);
      Again from(which, bytes + encode(records.subspan(mark)));
      if (!from.result)
        FAIL("from the snapshot at " << mark << ": " << from.result.error().message);
      CHECK(from.replay.fresh().empty());
      CHECK(from.replay.take_leftovers().empty());
      CHECK(from.dispatcher->answers() == live.dispatcher->answers());
    }
  }
  return seen;
}

TEST_CASE("replay: the journal of every tuner leads to where it ends") {
  const TunerRegistry tuners = builtin_tuners();
  int held_back = 0;
  for (const TunerEntry& entry : tuners.entries()) {
    if (entry.name == "Batch") continue;  // takes another search space
    // Each ask of DNGO trains a network: a session of it costs as much as those of all others.
    const bool trains = entry.name == "DNGO";
    held_back += check_replays({entry.name}, trains ? 2 : 4, trains ? 60 : 120).held_back;
  }
  CHECK(held_back > 50);
}

TEST_CASE("replay: the journal of every assessor leads to where it ends") {
  const AssessorRegistry assessors = builtin_assessors();
  for (const AssessorEntry& entry : assessors.entries()) {
    check_replays({"Random", entry.name}, 4, 120);
  }
  check_replays({"TPE", "Medianstop", true}, 4, 120);
}

TEST_CASE("replay: the journal of a tuner that pauses trials leads to where it ends") {
  const Seen seen = check_replays({"halving", ""}, 100, 300);
  CHECK(seen.held_back > 50);
  CHECK(seen.pauses > 100);
}

TEST_CASE("replay: the journal of a tuner and an assessor that both judge leads to where it ends") {
  const Seen seen = check_replays({"halving", "Medianstop"}, 60, 300);
  CHECK(seen.pauses > 50);
  check_replays({"HyperBandScheduler", "Medianstop"}, 10, 200);
  // Complete trials: the assessor's are complete at the second report.
  check_replays({"halving", "ASHA", false, {{"max_t", 2}, {"grace_period", 1}}}, 30, 200);
}

TEST_CASE("replay: the journal of an assessor that pauses trials leads to where it ends") {
  const json arguments = {{"hard_stop", false}, {"grace_period", 0}, {"min_samples_required", 1}};
  const bool pauses = GENERATE(false, true);
  const Seen seen =
      check_replays({"GridSearch", "MedianStoppingRule", false, arguments, pauses}, 30, 300);
  if (pauses) CHECK(seen.pauses > 30);
}

TEST_CASE("replay: a journal that ends anywhere, and what follows from it") {
  const Algorithms which =
      GENERATE(Algorithms{"TPE", "Medianstop", true},
               Algorithms{"halving", "ASHA", false, {{"max_t", 2}, {"grace_period", 1}}});
  CAPTURE(which.tuner);
  Live live(which, 7);
  live.run(60);
  const std::span<const JournalRecord> records = live.journal.records;
  for (std::size_t size = 0; size <= records.size(); ++size) {
    CAPTURE(size);
    Again again(which, header() + encode(records.first(size)));
    REQUIRE(again.result);
    // Answers that had not been written are those that came next.
    const auto& fresh = again.replay.fresh();
    REQUIRE(size + fresh.size() <= records.size());
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      CHECK(fresh[i].kind == RecordKind::answer);
      CHECK(fresh[i] == records[size + i]);
    }
    const bool whole = size + fresh.size() == records.size();
    CHECK((whole || records[size + fresh.size()].kind != RecordKind::answer));
    // The manager that lost its memory is served, too.
    REQUIRE(again.replay.restart());
    CHECK(again.dispatcher->commands() == 0);
  }
}

TEST_CASE("replay: what was queued for who judges reports is judged before the next command") {
  // The next command may end a trial that they stop, and a trial that has ended is not killed.
  const Algorithms which = GENERATE(Algorithms{"TPE", "Medianstop"}, Algorithms{"halving", ""},
                                    Algorithms{"halving", "Medianstop"});
  CAPTURE(which.tuner);
  Live live(which, 7);
  live.run(60);
  const std::span<const JournalRecord> records = live.journal.records;
  std::size_t decided = 0;
  for (std::size_t size = 0; size <= records.size(); ++size) {
    CAPTURE(size);
    Again again(which, header() + encode(records.first(size)));
    REQUIRE(again.result);
    CHECK(again.workers->assess_size() == 0);
    if (which.tuner == "halving") CHECK(again.workers->tune_size() == 0);
    for (const Replay::Leftover& left : again.replay.take_leftovers())
      decided += std::holds_alternative<Decided>(left.message) ? 1 : 0;
  }
  CHECK(decided > 0);
}

TEST_CASE("replay: another answer than the one in the journal is an error that shows both") {
  const Algorithms which{"Random", ""};
  Live live(which, 1);
  live.run(30);
  std::vector<JournalRecord> records = live.journal.records;
  const auto trial = std::ranges::find_if(records, [](const JournalRecord& record) {
    return record.kind == RecordKind::answer && record.payload.starts_with("TR");
  });
  REQUIRE(trial != records.end());
  SECTION("another one") {
    trial->payload.replace(trial->payload.find("\"x\":"), 4, "\"y\":");
    Again again(which, header() + encode(records));
    REQUIRE_FALSE(again.result);
    CHECK_THAT(again.result.error().message,
               Catch::Contains("\"y\":") && Catch::Contains("\"x\":"));
  }
  SECTION("one is missing") {
    records.erase(trial);
    Again again(which, header() + encode(records));
    REQUIRE_FALSE(again.result);
    CHECK_THAT(again.result.error().message, Catch::Contains("what follows now"));
  }
  SECTION("one more") {
    records.insert(trial, *trial);
    Again again(which, header() + encode(records));
    REQUIRE_FALSE(again.result);
    CHECK_THAT(again.result.error().message, Catch::Contains("does not follow"));
  }
  SECTION("one that is of another program") {
    for (const auto at : {records.begin(), std::next(trial)}) {
      std::vector<JournalRecord> others(records.begin(), at);
      others.push_back({RecordKind::edge, "{}"});
      others.insert(others.end(), at, records.end());
      Again again(which, header() + encode(others));
      REQUIRE_FALSE(again.result);
      CHECK_THAT(again.result.error().message,
                 Catch::Contains("\"edge\"") && Catch::Contains("cannot stand here"));
    }
  }
  SECTION("a message that no worker has") {
    records.insert(records.begin(), {RecordKind::assess, ""});
    Again again(which, header() + encode(records));
    REQUIRE_FALSE(again.result);
    CHECK_THAT(again.result.error().message, Catch::Contains("has nothing to say"));
  }
}

TEST_CASE("replay: the answers that the manager has not received are there again") {
  const Algorithms which{"TPE", "Medianstop"};
  Live live(which, 3);
  live.run(80);
  std::vector<Frame> answers;
  for (const auto& record : live.journal.records) {
    if (record.kind != RecordKind::answer) continue;
    if (const Frame frame = payload_frame(record.payload); frame.code != "ID") {
      answers.push_back(frame);
    }
  }
  const std::string bytes = header() + encode(live.journal.records);
  for (std::size_t received = 0; received <= answers.size() + 1; ++received) {
    Again again(which, bytes, received);
    REQUIRE(again.result);
    const auto above = again.replay.answers_above();
    REQUIRE(above.has_value() == (received <= answers.size()));
    if (above) CHECK(*above == std::vector(answers.begin() + received, answers.end()));
  }
}

}  // namespace attune::replay_test
