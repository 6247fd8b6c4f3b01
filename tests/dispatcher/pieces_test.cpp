// Large requests: a state is saved between two pieces, and a replay goes no further than the
// journal shows.
#include <catch2/catch.hpp>

#include "dispatcher/journal_frames.h"
#include "dispatcher/replay.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/transcript_text.h"

namespace attune::pieces_test {

const std::string kSpace = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";

std::unique_ptr<Stepped> random_search() {
  DispatcherOptions options;
  options.capabilities = {.sync = true};
  return Stepped::make("Random", {{"seed", 3}}, "Medianstop", json::object(), options);
}

std::string metric(int trial, const std::string& type, double value) {
  return dump_json({{"parameter_id", trial},
                    {"trial_job_id", "T" + std::to_string(trial)},
                    {"type", type},
                    {"sequence", 0},
                    {"value", dump_json(value)}});
}

TEST_CASE("a state is saved between two pieces of a request, with what waits behind it") {
  auto daemon = random_search();
  daemon->send("IN", kSpace);
  daemon->accept("GE", "100");
  REQUIRE(daemon->step_tune());
  daemon->accept("ME", metric(3, "PERIODICAL", 0.5));
  daemon->accept("ME", metric(3, "FINAL", 0.5));
  daemon->accept("PI", "done");
  daemon->accept("GE", "20");
  daemon->begin_save();
  daemon->step_tune();
  daemon->step_assess();
  REQUIRE(daemon->saved.is_object());  // and 84 trials are still to be found
  CHECK(daemon->take().size() == 1 + 16);
  const json state = parse_json(dump_json(daemon->saved)).value();

  auto other = random_search();
  REQUIRE(other->load(state));
  daemon->settle();
  other->settle();
  const auto answers = daemon->take();
  CHECK(answers.size() == 84 + 1 + 20);
  CHECK(other->take() == answers);
  CHECK(other->save() == daemon->save());
}

TEST_CASE("a request of any size waits as one message") {
  auto daemon = random_search();
  daemon->send("IN", kSpace);
  daemon->accept("GE", "100000");
  daemon->begin_save();
  daemon->step_tune();
  daemon->step_assess();
  CHECK(daemon->saved.at("tune_queue").size() == 1);
}

// A tuner that counts what it is asked for, behind workers that step.
struct Counted {
  Counted() {
    auto owned = std::make_unique<ScriptedTuner>();
    tuner = owned.get();
    workers = std::make_unique<WorkerThreads>(
        TuneWorker(Session(std::move(owned), Objective{}, Log()), Log()),
        AssessWorker(nullptr, Log()), WorkerThreads::Limits{.queue_bytes = 2000}, clock);
    dispatcher = std::make_unique<Dispatcher>(DispatcherOptions{.capabilities = {.sync = true}},
                                              *workers, Log());
  }
  int asked() const { return 1'000'000 - tuner->proposals; }

  ManualClock clock;
  ScriptedTuner* tuner = nullptr;
  std::unique_ptr<WorkerThreads> workers;
  std::unique_ptr<Dispatcher> dispatcher;
};

std::string offer(int id) {
  return dump_json({{"parameter_id", id},
                    {"parameter_source", "algorithm"},
                    {"parameters", {{"x", 0.5}}},
                    {"parameter_index", 0}});
}

struct KilledInRequest {
  explicit KilledInRequest(int answered, const std::string& last_begin = "") {
    encode_record(RecordKind::header, "{}", bytes);
    encode_record(RecordKind::begin, encode_begin({BeginHow::fresh, "1"}), bytes);
    encode_record(RecordKind::command, "IN" + kSpace, bytes);
    encode_record(RecordKind::tune, "", bytes);
    encode_record(RecordKind::answer, "ID", bytes);
    encode_record(RecordKind::command, "GE5000", bytes);
    for (int i = 0; i < answered; ++i) {
      encode_record(RecordKind::tune, "", bytes);
      encode_record(RecordKind::answer, "TR" + offer(i), bytes);
    }
    // More than the queue of the worker holds, behind the request.
    for (int i = 0; i < 40; ++i) {
      encode_record(RecordKind::command, "ME" + metric(i, "FINAL", 0.25), bytes);
    }
    if (!last_begin.empty()) {
      encode_record(RecordKind::begin, R"({"how":")" + last_begin + R"(","attuned":"1"})", bytes);
    }
  }
  std::string bytes;
};

// All records behind the header, which only the daemon reads.
void run(Replay& replay, const std::string& bytes) {
  RecordScanner records(bytes);
  REQUIRE(records.next().value());
  const auto result = replay.run(records);
  if (!result) FAIL(result.error().message);
}

TEST_CASE("a replay asks the tuner for no more than the journal shows, and a piece") {
  const int answered = GENERATE(0, 1, 16, 17, 100);
  const KilledInRequest killed(answered);
  Counted again;
  Replay replay(*again.dispatcher, *again.workers, 0);
  run(replay, killed.bytes);
  const int pieces = (answered + 15) / 16;
  CHECK(again.asked() == 16 * pieces);
  CHECK(replay.take_leftovers().size() == std::size_t(16 * pieces - answered));
  CHECK(again.tuner->told.empty());
  // The rest is what the workers do when they are started.
  while (again.workers->step(WorkerName::tune)) {
  }
  CHECK(again.asked() == 5000);
  CHECK(again.tuner->told.size() == 40);
}

TEST_CASE("under a manager that starts anew what waits of a request is forgotten") {
  const KilledInRequest killed(20);
  Counted again;
  Replay replay(*again.dispatcher, *again.workers, 0);
  run(replay, killed.bytes);
  REQUIRE(replay.restart());
  CHECK(again.asked() == 32);
  CHECK(again.tuner->told.size() == 32);  // those of the others are of no trial
}

TEST_CASE("a restart in the journal is done as the daemon did that wrote it") {
  const auto [how, asked] = GENERATE(table<std::string, int>({{"restart", 5000}, {"anew", 32}}));
  CAPTURE(how);
  const KilledInRequest killed(20, how);
  Counted again;
  Replay replay(*again.dispatcher, *again.workers, 0);
  run(replay, killed.bytes);
  CHECK(again.asked() == asked);
  CHECK(replay.take_leftovers().empty());
}

}  // namespace attune::pieces_test
