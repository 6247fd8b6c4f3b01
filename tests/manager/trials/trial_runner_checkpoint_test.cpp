// Checkpoints: when they are saved, who starts from them, and how long they stay.
#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::trial_runner_checkpoint_test {

using Calls = std::vector<std::string>;

TEST_CASE("runner: a trial that the decider stops later is saved at its end, too") {
  RunnerOptions options = World::limits(1, 5);
  options.trial.checkpoint_at_end = GENERATE(false, true);
  World w(options);
  w.ready();
  w.propose();
  w.report("t0000", 1, false);
  w.pump();
  w.decider.listener->on_stop("t0000", "it is bad");
  w.pump();
  CHECK(w.backend.saves.empty());
  w.end("t0000", Ending::stopped);
  w.pump();
  CHECK(w.notes.all["t0000"].status == TrialStatus::early_stopped);
  CHECK(w.backend.saves == (options.trial.checkpoint_at_end ? Calls{"t0000-1"} : Calls{}));
}

TEST_CASE("runner: checkpoints by frequency, at the end, on request, and old ones go") {
  RunnerOptions options = World::limits(1, 5);
  options.trial.checkpoint_frequency = 2;
  options.trial.checkpoint_at_end = true;
  World w(options);
  w.ready();
  w.propose();
  for (int i = 0; i < 4; ++i) w.report("t0000", i, false);
  w.pump();
  CHECK(w.backend.saves == Calls{"t0000-1", "t0000-2"});
  w.pump();
  CHECK(w.backend.deleted == Calls{"t0000-1"});
  w.decider.take();
  w.decider.listener->on_save("t0000");
  w.pump();
  CHECK(w.decider.take() == Calls{"saved t0000 t0000-3"});
  w.report("t0000", 9);
  w.end("t0000");
  w.pump();
  CHECK(w.backend.saves.back() == "t0000-4");
  w.pump();
  CHECK(w.backend.deleted == Calls{"t0000-1", "t0000-2"});
  CHECK(w.backend.released == Calls{"t0000"});
  // The decider knows this one, and a trial may start from it.
  w.decider.listener->on_drop("t0000-3");
  CHECK(w.backend.deleted.back() == "t0000-2");  // not before it is kept that it is
  w.pump();
  CHECK(w.backend.deleted.back() == "t0000-3");
}

TEST_CASE("runner: the decider hears of a checkpoint before the end of its trial") {
  RunnerOptions options = World::limits(1, 5);
  options.checkpoint.delete_at_end = true;
  World w(options);
  w.ready();
  w.propose();
  w.decider.take();
  w.backend.saves_at_once = false;
  const bool stopped = GENERATE(true, false);
  w.decider.listener->on_save("t0000");
  if (stopped) w.decider.listener->on_stop("t0000", "it has used its budget");
  w.end("t0000", stopped ? Ending::stopped : Ending::succeeded);
  w.pump();
  CHECK(w.decider.take().empty());
  const std::string error = GENERATE("", "nothing saved");
  w.backend.events.push_back(CheckpointStored{"t0000", "t0000-1", 10, error});
  w.pump();
  const Calls calls = w.decider.take();
  REQUIRE(calls.size() >= 2);
  CHECK(calls[0] == (error.empty() ? "saved t0000 t0000-1" : "saved t0000 "));
  CHECK(calls[1] == (stopped ? "remove t0000 early" : "complete t0000"));
  // A trial may start from it.
  CHECK(w.backend.deleted.empty());
}

TEST_CASE("runner: a proposal starts from another trial's checkpoint, which stays until then") {
  World w(World::limits(2, 5));
  w.ready();
  w.propose();
  w.decider.listener->on_save("t0000");
  w.pump();
  w.propose("", "t0000-1");
  REQUIRE(w.backend.started.size() == 2);
  CHECK(w.backend.started[1].checkpoint == "t0000-1");
}

TEST_CASE("runner: a checkpoint stays until the attempt that started from it has saved another") {
  World w(World::limits(2, 5));
  w.ready();
  w.propose();
  w.decider.listener->on_save("t0000");
  w.pump();
  w.propose("", "t0000-1");
  w.decider.listener->on_save("t0000");
  w.decider.listener->on_drop("t0000-1");
  w.pump();
  CHECK(w.notes.saved.back().checkpoint == "t0000-2");
  w.report("t0001", 1, false);
  w.pump();
  CHECK(w.backend.deleted.empty());
  if (GENERATE(true, false)) {
    w.decider.listener->on_save("t0001");
  } else {
    w.end("t0001");
  }
  w.pump();
  CHECK(w.backend.deleted == Calls{"t0000-1"});
}

// t0000 saves t0000-1. Then t0001, which is to start from that, waits for a worker.
void copy_waits(World& w) {
  w.ready();
  w.propose();
  w.decider.listener->on_save("t0000");
  w.pump();
  w.propose("", "t0000-1");
  w.backend.events.push_back(TrialPlace{"t0001", "waits for a worker", 0});
  w.pump();
  w.decider.take();
}

TEST_CASE("runner: of a trial that waits for a worker no files are saved") {
  World w(World::limits(2, 5));
  copy_waits(w);
  w.decider.listener->on_save("t0001");
  CHECK(w.decider.take() == Calls{"saved t0001 "});
  CHECK(w.backend.saves == Calls{"t0000-1"});
  // Else it would now go on from its old files.
  w.end("t0001", Ending::lost);
  w.pump();
  CHECK(w.backend.started.back().checkpoint == "t0000-1");
}

TEST_CASE("runner: an attempt that ends while it waits for a worker leaves no files") {
  RunnerOptions options = World::limits(2, 5);
  options.trial.checkpoint_at_end = true;
  World w(options);
  copy_waits(w);
  SECTION("it is paused") {
    w.decider.listener->on_pause("t0001", "others first");
    w.end("t0001", Ending::paused);
    w.pump();
    CHECK(w.notes.all["t0001"].status == TrialStatus::paused);
    CHECK(w.decider.take().front() == "paused t0001 ");
    w.propose("t0001");
    CHECK(w.backend.started.back().checkpoint == "t0000-1");
  }
  SECTION("it is stopped early") {
    w.decider.listener->on_stop("t0001", "it is bad");
    w.end("t0001", Ending::stopped);
    w.pump();
    CHECK(w.notes.all["t0001"].status == TrialStatus::early_stopped);
  }
  SECTION("the experiment is interrupted") {
    w.runner.interrupt("SIGINT");
    w.end("t0001", Ending::stopped);
    w.pump();
    CHECK(w.notes.all["t0001"].status == TrialStatus::pending);
  }
  CHECK(w.backend.saves == Calls{"t0000-1"});
}

TEST_CASE("runner: what a trial has saved that was lost with grace is what it goes on from") {
  World w(World::limits(1, 3));
  w.ready();
  w.propose();
  w.backend.saves_at_once = false;
  w.end("t0000", Ending::lost, true);
  w.pump();
  CHECK(w.backend.saves == Calls{"t0000-1"});
  CHECK(w.backend.started.size() == 1);  // not before it is a checkpoint
  CHECK(w.notes.all["t0000"].status == TrialStatus::pending);
  w.backend.events.push_back(CheckpointStored{"t0000", "t0000-1", 10, ""});
  w.pump();
  REQUIRE(w.backend.started.size() == 2);
  CHECK(w.backend.started[1].checkpoint == "t0000-1");
  CHECK(w.backend.started[1].attempt == 1);
  // It saves nothing the next time, and has what it had.
  w.end("t0000", Ending::lost, true);
  w.pump();
  w.backend.events.push_back(CheckpointStored{"t0000", "t0000-2", 0, "there is nothing"});
  w.pump();
  REQUIRE(w.backend.started.size() == 3);
  CHECK(w.backend.started[2].checkpoint == "t0000-1");
}

TEST_CASE("runner: a trial that is to restart or may not go on saves nothing when it is lost") {
  RunnerOptions options = World::limits(1, 3);
  const bool restart = GENERATE(true, false);
  options.trial.retries[FailureClass::lost] =
      restart ? RetryRule{RetryHow::restart, 5} : RetryRule{RetryHow::resume_or_restart, 0};
  World w(options);
  w.ready();
  w.propose();
  w.end("t0000", Ending::lost, true);
  w.pump();
  CHECK(w.backend.saves.empty());
  CHECK(w.backend.started.size() == (restart ? 2 : 1));
}

}  // namespace attune::trial_runner_checkpoint_test
