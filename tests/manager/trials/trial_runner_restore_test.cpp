// A new manager goes on as the one before would have; and a decider that cannot answer for now.
#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::trial_runner_restore_test {

using Calls = std::vector<std::string>;
using Catch::Matchers::Contains;

RestoredExperiment restored(std::vector<RestoredExperiment::Trial> live) {
  RestoredExperiment state;
  state.next_sequence = std::ssize(live);
  state.live = std::move(live);
  state.state = RunnerState{};
  return state;
}

void resume(World& w, RestoredExperiment state) {
  w.runner.restore(std::move(state));
  w.runner.start();
  w.runner.on_resumed();
  w.runner.pump();
}

TEST_CASE("restore: a decider that goes on exactly is told nothing, and asked for nothing twice") {
  World w(World::limits(3, 10));
  auto state = restored({live_trial(0, TrialStatus::running)});
  state.ended = {{{{"x", 1}}, 0.5, "t0009"}};
  state.state->requests = {1, 1};
  resume(w, state);
  CHECK(w.decider.take() == Calls{"recall t0000"});
  CHECK(w.notes.state.requests == std::vector<int>{1, 1});
  w.propose();
  CHECK(w.notes.state.requests == std::vector<int>{1});
  CHECK(w.decider.take() == Calls{"add t0001"});
}

TEST_CASE("restore: a decider that knows nothing is told everything, and asked anew") {
  World w(World::limits(2, 10));
  auto state = restored({live_trial(0, TrialStatus::running)});
  state.state->requests = {1};
  state.state->exhausted = true;
  w.runner.restore(state);
  w.ready();
  CHECK(w.decider.take() == Calls{"readopt t0000", "next 1"});
}

TEST_CASE("restore: one that had no more is not asked before a trial has ended") {
  World w(World::limits(2, 10));
  auto state = restored({live_trial(0, TrialStatus::running)});
  state.state->exhausted = true;
  resume(w, state);
  CHECK(w.decider.take() == Calls{"recall t0000"});
  w.report("t0000", 1);
  w.end("t0000");
  w.pump();
  CHECK(w.decider.take() == Calls{"result t0000 ok", "complete t0000", "next 2"});
}

TEST_CASE("restore: what was being deleted is deleted again, and only once") {
  World w(World::limits(2, 10));
  auto state = restored({live_trial(0, TrialStatus::running)});
  state.state->requests = {1};
  state.state->deleting = {"t0000-1"};
  state.state->releasing = {"t0007"};
  resume(w, state);
  CHECK(w.backend.deleted == Calls{"t0000-1"});
  CHECK(w.backend.released == Calls{"t0007"});
  CHECK(w.notes.state.deleting.empty());  // the backend of this test deletes at once
  CHECK(w.notes.state.releasing.empty());
}

TEST_CASE("restore: what was being saved is saved again, and whoever waits for it is answered") {
  World w(World::limits(2, 10));
  w.backend.saves_at_once = false;
  auto state = restored({live_trial(0, TrialStatus::running), live_trial(1, TrialStatus::paused)});
  state.state->requests = {1};
  state.state->saving = {"t0000-3", "t0001-1", "t0007-2"};  // the last trial has ended
  state.state->answers = {"t0000-3"};
  state.live[0].checkpoints = {"t0000-1", "t0000-2"};
  resume(w, state);
  w.decider.take();
  CHECK(w.backend.saves == Calls{"t0000-4", "t0001-2", "t0007-3"});
  CHECK(w.backend.deleted == Calls{"t0000-3", "t0001-1", "t0007-2"});
  CHECK(w.notes.state.saving == Calls{"t0000-4", "t0001-2", "t0007-3"});
  CHECK(w.notes.state.answers == Calls{"t0000-4"});
  for (const auto& [job, id] :
       {std::pair("t0000", "t0000-4"), {"t0001", "t0001-2"}, {"t0007", "t0007-3"}})
    w.backend.events.push_back(CheckpointStored{job, id, 10, ""});
  w.pump();
  CHECK(w.decider.take() == Calls{"saved t0000 t0000-4", "paused t0001 t0001-2"});
  CHECK(w.backend.released == Calls{"t0007"});
  CHECK(w.notes.state.saving.empty());
}

TEST_CASE("restore: a checkpoint that a waiting trial starts from stays") {
  RunnerOptions options = World::limits(1, 10);
  World w(options);
  auto state = restored({live_trial(0, TrialStatus::running), live_trial(1, TrialStatus::pending)});
  state.live[0].record.checkpoint = "t0000-2";
  state.live[1].start_from = "t0000-1";
  state.checkpoints = {{"t0000", "t0000-1", 10, false}, {"t0000", "t0000-2", 10, false}};
  resume(w, state);
  CHECK(w.backend.deleted.empty());
  w.report("t0000", 1);
  w.end("t0000");
  w.pump();
  REQUIRE(w.backend.started.size() == 1);
  CHECK(w.backend.started[0].checkpoint == "t0000-1");
  CHECK(w.backend.deleted.empty());
  w.end("t0001");
  w.pump();
  CHECK(w.backend.deleted == Calls{"t0000-1"});
}

TEST_CASE("restore: the time that a trial ran while nobody looked counts") {
  RunnerOptions options = World::limits(1, 10);
  options.max_trial_seconds = 100;
  World w(options);
  w.clock.advance_to(1000);
  auto state = restored({live_trial(0, TrialStatus::running)});
  state.live[0].time.ran = 20;  // at its last report
  SECTION("as whoever counts it says") {
    w.backend.events.push_back(TrialPlace{"t0000", "", 70});
    resume(w, state);
    CHECK(w.runner.next_deadline().value() == Approx(1030));
  }
  SECTION("or at least as long as it is known to have run") {
    state.live[0].time.last = w.clock.wall() - 259'427;  // whatever the clock says
    resume(w, state);
    CHECK(w.runner.next_deadline().value() == Approx(1080));
    CHECK(w.backend.stopped.empty());
  }
}

TEST_CASE("restore: a trial that has waited all the while is not stopped") {
  RunnerOptions options = World::limits(1, 10);
  options.max_trial_seconds = 100;
  World w(options);
  w.clock.advance_to(1000);
  auto state = restored({live_trial(0, TrialStatus::running)});
  state.live[0].time = {.ran = 70, .last = w.clock.wall() - 700};
  w.backend.events.push_back(TrialPlace{"t0000", "waits for a worker", 0});
  resume(w, state);
  w.clock.advance(10);
  w.pump();
  CHECK(w.backend.stopped.empty());
}

TEST_CASE("restore: a decision that was not carried out is, with what belongs to it") {
  RunnerOptions options = World::limits(1, 10);
  options.trial.checkpoint_at_end = true;
  World w(options);
  auto state = restored({live_trial(0, TrialStatus::running)});
  state.live[0].record.final_metric = 3;
  SECTION("complete: it is saved at its end") {
    state.live[0].asked = EndAsked{EndAsked::Kind::complete, "its own criterion"};
    resume(w, state);
    CHECK(w.backend.stopped == Calls{"t0000"});
    w.end("t0000", Ending::stopped);
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::succeeded);
    CHECK(w.backend.saves == Calls{"t0000-1"});
  }
  SECTION("stopped by the user, with its last word") {
    const bool said = GENERATE(false, true);
    state.live[0].record.final_metric = nullptr;
    state.live[0].asked = EndAsked{EndAsked::Kind::by_user, "attune kill"};
    if (said) state.live[0].finals = {{std::int64_t{0}, "ok", 3, 0}};
    resume(w, state);
    w.end("t0000", Ending::stopped);
    w.pump();
    CHECK(w.notes.all["t0000"].status ==
          (said ? TrialStatus::succeeded : TrialStatus::user_canceled));
  }
}

TEST_CASE("restore: the mark of the plateau rule") {
  RunnerOptions options = World::limits(1, 10);
  options.stop.plateau = StopRules::Plateau{2, 0};
  World w(options);
  auto state = restored({live_trial(0, TrialStatus::running)});
  state.state->best = 0.5;  // minimised
  state.state->since_best = 1;
  resume(w, state);
  w.report("t0000", 0.7);
  w.end("t0000");
  w.pump();
  w.closed();
  CHECK_THAT(w.notes.outcome->reason, Contains("no better trial among the last 2"));
}

TEST_CASE("restore: a decider that loses its memory meanwhile is told everything again") {
  RunnerOptions options = World::limits(3, 10);
  options.results = [] {
    return Result<std::vector<ImportData::Record>>({{{{"x", 1}}, 0.5, "t0009"}});
  };
  World w(options);
  w.ready();
  w.propose();
  w.report("t0000", 7);  // its final result; it runs on, and may still fail
  w.pump();
  w.decider.take();
  w.runner.on_ready();
  w.pump();
  const Calls calls = w.decider.take();
  CHECK(calls == Calls{"import 1", "readopt t0000", "next 2"});
}

TEST_CASE("restore: it is told later when nothing can be remembered") {
  World w(World::limits(1, 10));
  w.ready();
  w.propose();
  w.decider.take();
  w.notes.trouble = "the disk is full";
  w.runner.on_ready();
  w.pump();
  CHECK(w.decider.take().empty());
  w.notes.trouble.clear();
  w.clock.advance_to(w.clock.now() + 1);
  w.pump();
  CHECK(w.decider.take() == Calls{"readopt t0000"});
  w.pump();
  CHECK(w.decider.take().empty());  // once
}

TEST_CASE("restore: a decider that knows nothing is told everything, although all is ending") {
  World w(World::limits(1, 10));
  SECTION("it loses its memory") {
    w.ready();
    w.propose();
    w.runner.interrupt("SIGINT");
    w.pump();
    w.decider.take();
    w.runner.on_ready();
  }
  SECTION("it had none from the beginning") {
    w.runner.restore(restored({live_trial(0, TrialStatus::running)}));
    w.runner.start();
    w.runner.interrupt("SIGINT");
    w.runner.on_ready();
  }
  w.pump();
  w.end("t0000", Ending::stopped);
  w.pump();
  CHECK(w.decider.take() == Calls{"readopt t0000", "close"});
}

// ---- proposals that come when the experiment is ending

TEST_CASE("restore: a proposal that comes while an experiment is interrupted waits for the next") {
  World w(World::limits(2, 10));
  w.decider.memory = true;
  w.ready();
  w.runner.interrupt("SIGINT");
  w.propose();
  CHECK(w.notes.all.empty());  // it was added, and nothing has changed since
  CHECK(w.notes.tally.pending == 1);
  CHECK(w.backend.started.empty());
  CHECK(w.decider.take() == Calls{"next 2", "add t0000", "close"});
  CHECK(w.notes.state.requests == std::vector<int>{1});
}

TEST_CASE("restore: what a trial reports after its decider has gone is told for a later one") {
  World w(World::limits(1, 10));
  w.decider.memory = true;
  w.ready();
  w.propose();
  w.decider.take();
  w.runner.on_failure({"it was killed too often"});
  w.pump();
  w.end("t0000", Ending::succeeded);
  w.pump();
  CHECK(w.decider.take() == Calls{"complete t0000"});
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::failed);
}

// ---- a decider that cannot answer for now

TEST_CASE("postponed: said once, with the reason, and once more when it is over") {
  RunnerOptions options = World::limits(1, 10);
  options.proposal_seconds = 60;
  World w(options);
  w.ready();
  w.runner.on_postponed("the disk of the daemon is full");
  w.runner.on_postponed("the disk of the daemon is full");
  w.pump();
  REQUIRE(w.notes.warnings.size() == 1);
  CHECK_THAT(w.notes.warnings[0], Contains("the disk of the daemon is full"));
  CHECK(w.decider.take() == Calls{"next 1"});
  w.clock.advance_to(w.clock.now() + 1000);  // it is waited for
  w.pump();
  CHECK_FALSE(w.notes.outcome.has_value());
  w.propose();
  CHECK(w.notes.notices == Calls{"the tuner proposes again"});
  CHECK(w.backend.started.size() == 1);
}

}  // namespace attune::trial_runner_restore_test
