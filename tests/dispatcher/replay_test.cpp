// A dispatcher whose workers lag behind in every way that threads can, and its journal replayed:
// from the start and from snapshots, whole and cut off anywhere.
#include "dispatcher/replay.h"

#include <catch2/catch.hpp>

#include "tests/support/replay_world.h"

namespace attune::replay_test {

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
