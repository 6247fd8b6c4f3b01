// Pauses.
#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::trial_runner_pause_test {

using Calls = std::vector<std::string>;
using Catch::Contains;

bool has_call(const Calls& calls, const std::string& word) {
  return std::ranges::any_of(calls, [&](const auto& call) { return call.starts_with(word); });
}

void pause_and_go_on(World& w) {
  w.decider.listener->on_pause("t0000", "others first");
  w.end("t0000", Ending::paused);
  w.pump();
  w.propose("t0000");
}

TEST_CASE("runner: a pause gives the resources back, and the trial goes on with what it saved") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  w.report("t0000", 0.1, false);
  w.report("t0000", 0.2, false);
  w.pump();
  w.decider.take();
  w.decider.listener->on_pause("t0000", "others first");
  CHECK(w.backend.paused == Calls{"t0000"});
  w.end("t0000", Ending::paused);
  w.pump();
  CHECK(w.notes.all["t0000"].status == TrialStatus::paused);
  CHECK(w.decider.take() == Calls{"paused t0000 t0000-1", "next 1"});
  w.propose("t0000");
  CHECK(w.decider.take() == Calls{"add t0000"});
  REQUIRE(w.backend.started.size() == 2);
  CHECK(w.backend.started[1].checkpoint == "t0000-1");
  CHECK(w.backend.started[1].attempt == 1);
  CHECK(w.backend.started[1].parameter_text == "text 1");
  // The trial counts its results from 0 again, the decider goes on with 2; the new configuration's
  // id counts.
  w.report("t0000", 0.3, false, "ok", ParameterId(std::int64_t{1}));
  w.pump();
  CHECK(
      w.decider.take() ==
      Calls{
          R"(result t0000 {"parameter_id":1,"trial_job_id":"","type":"PERIODICAL","sequence":2,"value":"0.3"})"});
  w.report("t0000", 0.5, true, "ok", ParameterId(std::int64_t{1}));
  w.end("t0000");
  w.pump();
  CHECK(w.notes.trials.at(0).score() == 0.5);
  CHECK(w.notes.tally.succeeded == 1);
}

TEST_CASE("runner: pauses that come to nothing") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  SECTION("it had ended by itself") {
    w.decider.listener->on_pause("t0000", "");
    w.report("t0000", 1);
    w.end("t0000");
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::succeeded);
  }
  SECTION("it saved nothing: it will start from scratch") {
    w.backend.saves_at_once = false;
    w.decider.listener->on_pause("t0000", "");
    w.end("t0000", Ending::paused);
    w.pump();
    w.backend.events.push_back(CheckpointStored{"t0000", "t0000-1", 0, "nothing saved"});
    w.decider.take();
    w.pump();
    CHECK(w.decider.take() == Calls{"paused t0000 "});
    CHECK_THAT(w.notes.warnings.at(0), Contains("from scratch"));
    w.propose("t0000");
    CHECK(w.backend.started.at(1).checkpoint.empty());
  }
  SECTION("it saved nothing new: it will go on from its checkpoint") {
    pause_and_go_on(w);
    w.backend.saves_at_once = false;
    w.decider.listener->on_pause("t0000", "");
    w.end("t0000", Ending::paused);
    w.backend.events.push_back(CheckpointStored{"t0000", "t0000-2", 0, "nothing saved"});
    w.pump();
    CHECK(w.notes.warnings.empty());
    w.propose("t0000");
    CHECK(w.backend.started.back().checkpoint == "t0000-1");
  }
  SECTION("it is paused already") {
    w.decider.listener->on_pause("t0000", "");
    w.end("t0000", Ending::paused);
    w.pump();
    w.decider.take();
    w.decider.listener->on_pause("t0000", "");
    CHECK(w.decider.take() == Calls{"unpaused t0000"});
  }
}

TEST_CASE("runner: a pause under way is carried out when the experiment is interrupted") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  w.decider.listener->on_pause("t0000", "others first");
  w.decider.take();
  w.runner.interrupt("SIGINT");
  w.pump();
  CHECK(w.backend.stopped.empty());
  SECTION("it comes off") {
    w.end("t0000", Ending::paused);
    w.pump();
    CHECK(w.decider.take() == Calls{"paused t0000 t0000-1", "close"});
    CHECK(w.notes.all["t0000"].status == TrialStatus::paused);
  }
  SECTION("the shim has died instead") {
    w.end("t0000", Ending::lost);
    w.pump();
    CHECK(w.decider.take() == Calls{"paused t0000 ", "close"});
    CHECK(w.notes.all["t0000"].status == TrialStatus::paused);
  }
}

TEST_CASE("runner: what a paused trial has saved waits for room") {
  World w(World::limits(1, 5));
  w.backend.saves_at_once = false;
  w.ready();
  w.propose();
  w.decider.listener->on_pause("t0000", "others first");
  w.end("t0000", Ending::paused);
  w.pump();
  w.decider.take();
  const CheckpointStored full{"t0000", "t0000-1", 0, "No space left on device", 0, true};
  w.backend.events.push_back(full);
  w.pump();
  CHECK_FALSE(has_call(w.decider.take(), "paused"));
  CHECK_THAT(w.notes.warnings.at(0), Contains("No space left"));
  SECTION("until there is some") {
    CHECK(w.runner.next_deadline() == 2);
    w.clock.advance(2);
    w.pump();
    CHECK(w.backend.saves == Calls{"t0000-1", "t0000-1"});
    w.backend.events.push_back(CheckpointStored{"t0000", "t0000-1", 10, ""});
    w.pump();
    CHECK(w.decider.take() == Calls{"paused t0000 t0000-1"});
    CHECK(w.notes.all["t0000"].checkpoint == "t0000-1");
  }
  SECTION("ten minutes at most") {
    w.clock.advance(600);
    w.pump();
    w.backend.events.push_back(full);
    w.pump();
    CHECK(w.decider.take() == Calls{"paused t0000 "});
  }
  SECTION("for a later manager when this one ends") {
    w.runner.interrupt("SIGINT");
    w.pump();
    CHECK(w.decider.take() == Calls{"close"});
    CHECK(w.notes.state.saving == Calls{"t0000-1"});
  }
}

TEST_CASE("runner: a trial that is lost while it pauses waits with what it had saved before") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  const bool saved = GENERATE(false, true);
  if (saved) pause_and_go_on(w);
  w.decider.listener->on_pause("t0000", "others first");
  w.decider.take();
  const std::size_t started = w.backend.started.size();
  w.end("t0000", Ending::lost);
  w.pump();
  CHECK(w.decider.take() == Calls{"paused t0000 ", "next 1"});
  CHECK(w.notes.all["t0000"].status == TrialStatus::paused);
  CHECK(w.backend.started.size() == started);
  w.propose("t0000");
  REQUIRE(w.backend.started.size() == started + 1);
  CHECK(w.backend.started.back().checkpoint == (saved ? "t0000-1" : ""));
}

TEST_CASE(
    "runner: a trial that goes on from another one's checkpoint, and is lost, does so again") {
  RunnerOptions options = World::limits(2, 5);
  options.trial.retries[FailureClass::lost] = {RetryHow::resume_or_restart, 5};
  World w(options);
  w.ready();
  w.propose();
  w.propose();
  w.decider.listener->on_save("t0001");
  w.pump();
  w.decider.listener->on_pause("t0000", "it becomes a copy");
  w.end("t0000", Ending::paused);
  w.pump();
  w.propose("t0000", "t0001-1");
  REQUIRE(w.backend.started.back().checkpoint == "t0001-1");
  w.report("t0000", 0.5, false, "ok", ParameterId(std::int64_t{2}));
  w.pump();
  w.decider.listener->on_drop("t0001-1");  // the decider needs it no more
  SECTION("until it has saved a checkpoint of its own") {
    w.end("t0000", Ending::lost);
    w.pump();
    REQUIRE(w.backend.started.size() == 4);
    CHECK(w.backend.started.back().checkpoint == "t0001-1");
    w.decider.listener->on_save("t0000");
    w.pump();
    w.end("t0000", Ending::lost);
    w.pump();
    CHECK(w.backend.started.back().checkpoint == "t0000-2");
  }
  SECTION("also when it is lost while it pauses") {
    w.decider.listener->on_pause("t0000", "others first");
    w.end("t0000", Ending::lost);
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::paused);
    w.propose("t0000");
    CHECK(w.backend.started.back().checkpoint == "t0001-1");
  }
}

TEST_CASE("runner: a trial that is lost with grace while it pauses waits with what it has saved") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  w.decider.listener->on_pause("t0000", "others first");
  w.decider.take();
  w.end("t0000", Ending::lost, true);
  w.pump();
  CHECK(w.decider.take() == Calls{"paused t0000 t0000-1", "next 1"});
  CHECK(w.notes.all["t0000"].status == TrialStatus::paused);
}

TEST_CASE("runner: a trial that is lost while it pauses, and is to restart, does so at once") {
  RunnerOptions options = World::limits(1, 5);
  options.trial.retries[FailureClass::lost] = {RetryHow::restart, 5};
  World w(options);
  w.ready();
  w.propose();
  pause_and_go_on(w);
  w.decider.listener->on_pause("t0000", "others first");
  w.decider.take();
  w.end("t0000", Ending::lost);
  w.pump();
  CHECK(w.decider.take() == Calls{"unpaused t0000"});
  REQUIRE(w.backend.started.size() == 3);
  CHECK(w.backend.started.back().checkpoint.empty());
}

TEST_CASE("runner: why a trial goes on, or starts for another one, is written down") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  CHECK(w.notes.decisions.empty());
  w.decider.listener->on_pause("t0000", "rung 3");
  w.end("t0000", Ending::paused);
  w.pump();
  w.decider.reason = "the best of 3";
  w.propose("t0000");
  w.end("t0000");
  w.propose("", "t0000-1");
  CHECK(w.notes.decisions == Calls{"pause t0000 by decider: rung 3",
                                   "resume t0000 by decider: the best of 3",
                                   "start t0001 by decider: the best of 3"});
}

TEST_CASE("runner: paused trials that nobody goes on with") {
  World w(
      World::limits(1, GENERATE(std::optional<std::int64_t>(), std::optional<std::int64_t>(1))));
  w.ready();
  w.propose();
  w.decider.listener->on_pause("t0000", "");
  w.end("t0000", Ending::paused);
  w.pump();
  w.exhausted();
  CHECK(w.decider.calls.back() == "close");
  w.closed();
  // An end like any other: they have lost.
  CHECK(w.notes.all["t0000"].status == TrialStatus::early_stopped);
  const bool limited = w.runner.options().max_trials.has_value();
  CHECK_THAT(w.notes.outcome->reason,
             Contains(limited ? "maxTrialNumber is reached" : "goes on with no paused trial"));
}

// The tuner offers new trials for ever, and resumes none: the last one is declined like the others.
TEST_CASE("runner: maxTrialNumber ends an experiment whose tuner does not resume paused trials") {
  World w(World::limits(1, 1));
  w.ready();
  w.propose();
  w.decider.listener->on_pause("t0000", "");
  w.end("t0000", Ending::paused);
  w.pump();
  for (int i = 0; i < ProposalDesk::kMostDeclined; ++i) {
    CHECK_FALSE(w.notes.outcome);
    w.propose();
  }
  CHECK(w.decider.calls.back() == "close");
  w.closed();
  CHECK_THAT(w.notes.outcome->reason, Contains("maxTrialNumber is reached"));
}

TEST_CASE("runner: that a trial pauses without a checkpoint is said once for the trial") {
  World w(World::limits(1, 5));
  w.backend.saves_at_once = false;
  w.ready();
  w.propose();
  for (const char* checkpoint : {"t0000-1", "t0000-2", "t0000-3"}) {
    w.decider.listener->on_pause("t0000", "");
    w.end("t0000", Ending::paused);
    w.pump();
    w.backend.events.push_back(CheckpointStored{"t0000", checkpoint, 0, "its folder is empty"});
    w.pump();
    w.propose("t0000");
  }
  REQUIRE(w.notes.warnings.size() == 1);
  CHECK_THAT(w.notes.warnings[0], Contains("trial t0000 was paused and has saved no checkpoint"));
}

TEST_CASE("runner: an experiment of which only paused trials are left is completed") {
  World w(World::limits(1, std::nullopt));
  w.ready();
  w.propose();
  w.report("t0000", 0.5);
  w.end("t0000");
  w.propose();
  w.decider.listener->on_pause("t0001", "");
  w.end("t0001", Ending::paused);
  w.pump();
  w.exhausted();
  w.closed();
  CHECK(w.notes.all["t0001"].status == TrialStatus::early_stopped);
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::completed);
}

// A trial that an assessor has paused goes on when there is nothing new.
TEST_CASE("runner: a tuner that had no more is asked again once a trial is paused") {
  World w(World::limits(2, 10));
  w.ready();
  w.propose();
  w.exhausted();
  w.backend.saves_at_once = false;
  w.decider.listener->on_pause("t0000", "soft stop");
  w.end("t0000", Ending::paused);
  w.decider.take();
  w.pump();
  CHECK(w.decider.take().empty());  // the decider does not know that it is paused
  w.backend.events.push_back(CheckpointStored{"t0000", "t0000-1", 10, ""});
  w.pump();
  CHECK(w.decider.take() == Calls{"paused t0000 t0000-1", "next 2"});
  w.propose("t0000");
  w.exhausted();
  CHECK(w.notes.all["t0000"].status == TrialStatus::running);
  CHECK(w.decider.take() == Calls{"add t0000"});
}

TEST_CASE("runner: after the last new trial, paused ones may still go on") {
  World w(World::limits(1, 1));
  w.ready();
  w.propose();
  w.decider.listener->on_pause("t0000", "");
  w.end("t0000", Ending::paused);
  w.decider.take();
  w.pump();
  CHECK(w.decider.take() == Calls{"paused t0000 t0000-1", "next 1"});
  SECTION("they do") {
    w.propose("t0000");
    CHECK(w.notes.all["t0000"].status == TrialStatus::running);
  }
  SECTION("a new one instead is declined") {
    w.propose();
    // There may be one that goes on behind it.
    CHECK(w.decider.take() == Calls{"add declined1", "remove declined1 user", "next 1"});
    w.propose("t0000");
    CHECK(w.notes.all["t0000"].status == TrialStatus::running);
    CHECK(w.notes.tally.added() == 1);
  }
}

}  // namespace attune::trial_runner_pause_test
