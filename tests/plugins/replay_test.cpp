// The journal of plug-ins that are not deterministic, replayed from the start and from snapshots.
#include "plugins/guarded_assessor.h"
#include "plugins/guarded_tuner.h"
#include "tests/plugins/moody.h"
#include "tests/support/replay_world.h"

namespace attune::replay_test {

Algorithms moody(const std::string& tuner, const std::string& assessor, bool saves,
                 const std::shared_ptr<Mood>& mood = std::make_shared<Mood>()) {
  Algorithms which{tuner, assessor};
  which.deterministic = false;
  which.wrap = [=](std::unique_ptr<Tuner> inner, bool wants_reports) {
    return make_guarded(std::make_unique<MoodyTuner>(std::move(inner), mood),
                        {.name = "Moody", .wants_reports = wants_reports, .saves = saves},
                        "moody.so", Log());
  };
  which.wrap_assessor = [=](std::unique_ptr<Assessor>) {
    return make_guarded(
        std::make_unique<MoodyAssessor>(mood),
        {.kind = PluginDescription::Kind::assessor, .name = "Moody", .saves = saves}, "moody.so",
        Log());
  };
  return which;
}

// A tuner of attune that has the plug-in Moody, which searches as TPE, for a member.
Algorithms with_member(const std::string& tuner, const json& arguments, bool saves) {
  const auto mood = std::make_shared<Mood>();
  Algorithms which{tuner, ""};
  which.deterministic = false;
  which.tuner_arguments.update(arguments);
  which.tuners.add({.name = "Moody",
                    .aliases = {},
                    .summary = "",
                    .arguments = {},
                    .make = [=](const json&, const TunerContext& context,
                                Rng rng) -> Result<std::unique_ptr<Tuner>> {
                      auto inner = make_member(**context.tuners->find("TPE", ""), context, rng);
                      return make_guarded(std::make_unique<MoodyTuner>(*std::move(inner), mood),
                                          {.name = "Moody", .saves = saves}, "moody.so", Log());
                    }});
  return which;
}

TEST_CASE("replay of plug-ins: what they answered comes again, whatever they would answer now") {
  for (const bool saves : {true, false}) {
    check_replays(moody("Random", "", saves), 10, 120);
    check_replays(moody("TPE", "Medianstop", saves), 10, 120);
    check_replays(moody("GridSearch", "Medianstop", saves), 10, 120);
  }
  // Without its own state this one could not go on: it decides by what it has decided.
  CHECK(check_replays(moody("halving", "", true), 20, 200).pauses > 20);
}

TEST_CASE("replay of plug-ins: also what members of other tuners answered") {
  for (const bool saves : {true, false}) {
    check_replays(with_member("ensemble", {{"members", "Random,Moody"}}, saves), 10, 120);
    check_replays(with_member("ASHA", {{"searcher", "Moody"}}, saves), 10, 120);
    check_replays(with_member("Hyperband", {{"searcher", "Moody"}, {"R", 9}}, saves), 10, 120);
    check_replays(with_member("HyperBandScheduler", {{"searcher", "Moody"}}, saves), 10, 120);
  }
}

TEST_CASE("replay of plug-ins: also if some of their calls fail") {
  const auto mood = [](int fails_every) {
    return std::make_shared<Mood>(Mood{.fails_every = fails_every});
  };
  check_replays(moody("TPE", "Medianstop", true, mood(7)), 10, 120);
  check_replays(moody("TPE", "Medianstop", false, mood(11)), 10, 120);
}

// The journal is good, so that it must not be set aside.
TEST_CASE("replay of plug-ins: the error says that a plug-in has failed") {
  const auto mood = std::make_shared<Mood>();
  const bool saves = GENERATE(true, false);
  const Algorithms which = moody("TPE", GENERATE("", "Medianstop"), saves, mood);
  Live live(which, 3);
  live.run(60);
  const std::string all = header() + encode(live.journal.records);
  REQUIRE_FALSE(live.snapshots.empty());
  const auto& [mark, state] = live.snapshots.back();
  std::string from_snapshot = header();
  encode_record(RecordKind::snapshot, state, from_snapshot);
  from_snapshot += encode(std::span(live.journal.records).subspan(mark));
  mood->broken = true;
  for (const std::string& bytes : {all, from_snapshot}) {
    Again again(which, bytes);
    REQUIRE_FALSE(again.result);
    CHECK(again.replay.algorithm_failed());
    CHECK_THAT(again.result.error().message, Catch::Contains("the plug-in is broken"));
  }
  // A manager that starts anew: what was queued is handled.
  std::size_t failures = 0;
  const std::span<const JournalRecord> records = live.journal.records;
  const auto has_space = std::ranges::find(records, RecordKind::tune, &JournalRecord::kind);
  for (auto size = std::size_t(has_space - records.begin()) + 2; size <= records.size(); ++size) {
    if (records[size - 1].kind != RecordKind::command) continue;
    mood->broken = false;
    Again again(which, header() + encode(records.first(size)));
    REQUIRE(again.result);
    mood->broken = true;
    const bool restarted = again.replay.restart().has_value();
    CHECK(again.replay.algorithm_failed() == !restarted);
    failures += restarted ? 0 : 1;
  }
  CHECK(failures > 0);
}

// A manager that starts anew: what was queued is handled, and the record `begin` has the notes.
TEST_CASE("replay of plug-ins: a restart anywhere is replayed as it was") {
  const Algorithms which = moody("TPE", "Medianstop", GENERATE(true, false));
  Live live(which, 7);
  live.run(60);
  const std::span<const JournalRecord> records = live.journal.records;
  std::size_t noted = 0;
  for (std::size_t size = 0; size <= records.size(); ++size) {
    CAPTURE(size);
    std::string bytes = header() + encode(records.first(size));
    Again again(which, bytes);
    REQUIRE(again.result);
    bytes += encode(again.replay.fresh());
    REQUIRE(again.replay.restart());
    Begin begin{BeginHow::restart, "1", again.replay.tune_notes(), again.replay.assess_notes()};
    noted += begin.tune_notes.size() + begin.assess_notes.size();
    encode_record(RecordKind::begin, encode_begin(begin), bytes);
    // What is offered now must be offered after another replay, too.
    MemoryJournal journal;
    struct Answers : Sink {
      void send(Frame frame) override { frames.push_back(std::move(frame)); }
      void fatal(ExitCode, const std::string& message) override { FAIL(message); }
      void save(json) override {}
      void terminate() override {}
      std::vector<Frame> frames;
    } answers;
    again.dispatcher->attach(answers, journal);
    const auto accept = [&](const std::string& code, const std::string& payload) {
      again.dispatcher->accept(Frame{code, payload});
      while (again.workers->step(WorkerName::tune)) {
        while (auto output = again.workers->take())
          again.dispatcher->on_worker(output->from, std::move(output->message));
      }
    };
    accept("IN", space_for(which.tuner));
    accept("GE", "6");
    bytes += encode(journal.records);
    Again third(which, bytes);
    if (!third.result) FAIL(third.result.error().message);
    CHECK(third.dispatcher->answers() == again.dispatcher->answers());
  }
  CHECK(noted > 0);
}

}  // namespace attune::replay_test
