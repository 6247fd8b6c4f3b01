// The journal of plug-ins that are not deterministic, replayed from the start and from snapshots.
#include "plugins/guarded_assessor.h"
#include "plugins/guarded_tuner.h"
#include "tests/plugins/moody.h"
#include "tests/support/replay_world.h"

namespace attune::replay_test {

Algorithms moody(const std::string& tuner, const std::string& assessor, bool saves,
                 int fails_every = 0) {
  const auto mood = std::make_shared<Mood>(Mood{.fails_every = fails_every});
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
  check_replays(moody("TPE", "Medianstop", true, 7), 10, 120);
  check_replays(moody("TPE", "Medianstop", false, 11), 10, 120);
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
