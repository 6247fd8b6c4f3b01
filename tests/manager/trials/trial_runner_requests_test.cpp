// Retries, stop requests, resources, trials of the user's own, and a restart.
#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::trial_runner_requests_test {

using Calls = std::vector<std::string>;
using Catch::Contains;

TEST_CASE("runner: retries by class, up to the limit") {
  RunnerOptions options = World::limits(1, 5);
  options.trial.retries[FailureClass::signalled] = {RetryHow::restart, 1};
  options.trial.retries[FailureClass::failed] = {RetryHow::resume, 5};
  World w(options);
  w.ready();
  w.propose();
  SECTION("restart from scratch, once") {
    w.end("t0000", Ending::signalled);
    w.pump();
    CHECK(w.backend.started.size() == 2);
    CHECK(w.notes.decisions == Calls{"restart t0000 by runner: failure 1 (signalled)"});
    w.end("t0000", Ending::signalled);
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::failed);
    CHECK(w.notes.all["t0000"].failures == 2);
  }
  SECTION("resume, from a checkpoint only") {
    w.decider.listener->on_save("t0000");
    w.pump();
    w.end("t0000", Ending::failed);
    w.pump();
    CHECK(w.backend.started.at(1).checkpoint == "t0000-1");
  }
  SECTION("resume, without one") {
    w.end("t0000", Ending::failed);
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::failed);
  }
  SECTION("lost: by default it starts again") {
    w.end("t0000", Ending::lost);
    w.pump();
    CHECK(w.backend.started.size() == 2);
  }
  SECTION("a checkpoint that cannot be restored is no reason to try again") {
    w.end("t0000", Ending::restore_failed);
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::failed);
  }
}

TEST_CASE("runner: the user stops trials in any state") {
  World w(World::limits(1, 5));
  w.ready();
  w.decider.propose();
  w.propose();
  CHECK_FALSE(w.runner.stop_trial("t0009", "asked"));
  w.decider.take();
  REQUIRE(w.runner.stop_trial("t0001", "asked"));
  CHECK(w.notes.all["t0001"].status == TrialStatus::user_canceled);
  REQUIRE(w.runner.stop_trial("t0000", "asked"));
  w.pump();
  CHECK(w.backend.stopped == Calls{"t0000"});
  SECTION("it ends") {
    w.report("t0000", 7, false);
    w.end("t0000", Ending::stopped);
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::user_canceled);
    CHECK(w.notes.all["t0000"].reason == "asked");
  }
  SECTION("with a last word") {
    w.report("t0000", 7);
    w.end("t0000", Ending::stopped);
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::succeeded);
    CHECK(w.notes.all["t0000"].score() == 7.0);
  }
}

TEST_CASE("runner: a stop that comes while the experiment is interrupted holds") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  w.runner.interrupt("SIGINT");
  w.pump();
  w.decider.take();
  const bool by_user = GENERATE(false, true);
  const auto stop = [&] {
    if (by_user) REQUIRE(w.runner.stop_trial("t0000", "asked"));
    if (!by_user) w.decider.listener->on_stop("t0000", "it is bad");
  };
  const Calls end = {by_user ? "remove t0000 user" : "remove t0000 early", "close"};
  SECTION("before the trial has ended") {
    stop();
    w.end("t0000", Ending::stopped);
    w.pump();
    CHECK(w.decider.take() == end);
  }
  SECTION("while what it has saved is put away") {
    w.backend.saves_at_once = false;
    w.end("t0000", Ending::stopped);
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::pending);
    stop();
    w.backend.events.push_back(CheckpointStored{"t0000", "t0000-1", 10, ""});
    w.pump();
    CHECK(w.decider.take() == end);
    CHECK(w.backend.released == Calls{"t0000"});
  }
  CHECK(has_ended(w.notes.all["t0000"].status));
}

TEST_CASE("runner: resources, and trials that can never be placed") {
  RunnerOptions options = World::limits(10, 10);
  options.trial.resources.cpu = 3;
  World w(options);
  w.ready();
  w.decider.propose();
  w.propose();
  CHECK(w.notes.tally.running == 1);
  CHECK_THAT(w.runner.table().why_waits(*w.runner.table().in(TrialStatus::pending).at(1)),
             Contains("cpu: 3 wanted, 1 of 4 free"));
  TrialRules small, huge;
  small.resources.custom["licence"] = 1;
  huge.resources.gpu = 2;
  REQUIRE(w.runner.add_trial({{"x", 1}}, TrialSource::customized, small));
  w.pump();
  CHECK(w.notes.tally.running == 2);  // what fits overtakes what does not
  REQUIRE(w.runner.stop_trial("t0001", ""));
  REQUIRE(w.runner.add_trial({{"x", 2}}, TrialSource::customized, huge));
  w.exhausted();
  for (const char* job : {"t0000", "t0002"}) {
    w.report(job, 1, true, "ok", job[4] == '2' ? ParameterId() : ParameterId(std::int64_t{0}));
    w.end(job);
  }
  w.pump();
  w.exhausted();
  w.closed();
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::failed);
  CHECK_THAT(w.notes.outcome->reason, Contains("trial t0003 can never be started") &&
                                          Contains("gpu: 2 wanted, 1 of 1 free"));
}

TEST_CASE("runner: a customized trial, with the null parameter id") {
  World w(World::limits(2, 5));
  w.ready();
  const auto job = w.runner.add_trial({{"lr", 0.1}}, TrialSource::customized);
  REQUIRE(job);
  w.pump();
  CHECK(
      w.backend.started.at(0).parameter_text ==
      R"({"parameter_id":null,"parameter_source":"customized","parameters":{"lr":0.1},"parameter_index":0})");
  ReportMetricData metric;
  metric.value = 0.5;
  w.backend.events.push_back(TrialReport{*job, "mine", metric, 0, 0, false});
  w.end(*job);
  w.decider.take();
  w.pump();
  CHECK(w.decider.take() == Calls{"result t0000 mine", "complete t0000"});
}

TEST_CASE("runner: a multi-phase trial gets more configurations") {
  World w;
  w.ready();
  w.propose();
  ReportMetricData metric;
  metric.type = ReportMetricData::Type::request_parameter;
  metric.parameter_index = 1;
  w.backend.events.push_back(TrialReport{"t0000", "ask", metric, 0, 0, false});
  w.decider.take();
  w.pump();
  CHECK(w.decider.take() == Calls{"result t0000 ask"});
  w.decider.listener->on_parameter("t0000", 1, ProposedTrial{std::int64_t{8}, {}, "more", "", ""});
  CHECK(w.backend.given == Calls{"t0000 1 more"});
  w.report("t0000", 1, true, "ok", ParameterId(std::int64_t{8}));
  w.end("t0000");
  w.pump();
  CHECK(w.decider.take().at(0) == "result t0000 ok");
}

TEST_CASE("runner: a retried attempt starts anew, whatever an earlier one had reported") {
  RunnerOptions options = World::limits(1, 5);
  options.trial.retries[FailureClass::failed] = {RetryHow::restart, 1};
  World w(options);
  w.ready();
  w.propose();
  w.report("t0000", 0.1);
  w.end("t0000", Ending::failed);
  w.pump();
  w.report("t0000", 0.2, false);
  w.pump();
  CHECK(w.backend.stopped.empty());
  CHECK(w.notes.all["t0000"].status == TrialStatus::running);
  CHECK(w.notes.all["t0000"].final_metric.is_null());
}

TEST_CASE("runner: a trial that has its final result keeps it, however it ends") {
  RunnerOptions options = World::limits(1, 5);
  options.max_trial_seconds = 10;
  World w(options);
  w.ready();
  w.propose();
  w.report("t0000", 0.7);
  w.pump();
  if (GENERATE(true, false)) {
    w.clock.advance(10);
  } else {
    w.runner.interrupt("SIGTERM");
  }
  w.pump();
  CHECK(w.backend.stopped == Calls{"t0000"});
  w.end("t0000", Ending::stopped);
  w.pump();
  CHECK(w.notes.all["t0000"].status == TrialStatus::succeeded);
}

TEST_CASE("runner: an end goes before a pause that is under way") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  w.decider.listener->on_pause("t0000", "");
  w.decider.listener->on_stop("t0000", "rejected");
  CHECK(w.backend.stopped == Calls{"t0000"});
  w.end("t0000", Ending::stopped);
  w.pump();
  CHECK(w.notes.all["t0000"].status == TrialStatus::early_stopped);
}

TEST_CASE("runner: no attempt is started any more when the experiment ends") {
  RunnerOptions options = World::limits(1, 5);
  options.trial.retries[FailureClass::failed] = {RetryHow::restart, 9};
  World w(options);
  w.ready();
  w.propose();
  w.runner.interrupt("SIGTERM");
  w.end("t0000", Ending::failed);
  w.pump();
  CHECK(w.backend.started.size() == 1);
}

TEST_CASE("runner: waits only so long for a proposal when nothing else can happen") {
  World w;
  w.ready();
  CHECK(w.runner.next_deadline() == 600);
  w.clock.advance(600);
  w.pump();
  w.closed();
  CHECK_THAT(w.notes.outcome->reason, Contains("proposed nothing for 600 s"));
}

TEST_CASE("runner: limits may change while it runs") {
  World w(World::limits(1, 1));
  w.ready();
  w.propose();
  w.runner.set_max_trials(3);
  w.runner.set_concurrency(2);
  w.decider.take();
  w.pump();
  CHECK(w.decider.take() == Calls{"next 1"});
  w.propose();
  CHECK(w.notes.tally.running == 2);
  w.runner.set_max_seconds(10);
  CHECK(w.runner.next_deadline() == 10);
}

TEST_CASE("runner: a restart goes on with what an earlier manager left") {
  World w(World::limits(2, 5));
  RestoredExperiment state;
  state.next_sequence = 3;
  state.tally.succeeded = 1;
  state.scored = 1;
  state.ended.push_back({{{"x", 0}}, 0.5, "t0000"});
  const auto live = [&](int i, TrialStatus status) {
    RestoredExperiment::Trial trial = live_trial(i, status);
    trial.position = 77;
    w.notes.all[trial.record.job_id] = trial.record;
    state.live.push_back(trial);
  };
  live(1, TrialStatus::running);
  live(2, TrialStatus::pending);
  SECTION("it still runs") {
    w.runner.restore(state);
    w.ready();
    CHECK(w.decider.take() == Calls{"import 1", "readopt t0001", "readopt t0002"});
    CHECK(w.backend.adopted == Calls{"t0001 attempt 0 from 77"});
    CHECK(w.notes.tally.running == 2);
    w.report("t0001", 1);
    w.end("t0001");
    w.pump();
    CHECK(w.notes.tally.succeeded == 2);
    w.propose();
    CHECK(w.notes.all["t0003"].status == TrialStatus::running);
  }
  SECTION("it was told to stop, and the experiment went on without it") {
    state.live[0].asked = EndAsked{EndAsked::Kind::early_stop, "it is bad"};
    w.runner.restore(state);
    w.ready();
    CHECK(w.backend.stopped == Calls{"t0001"});
    w.end("t0001", Ending::stopped);
    w.pump();
    CHECK(w.notes.all["t0001"].status == TrialStatus::early_stopped);
  }
  SECTION("it was stopped with the experiment, which was killed meanwhile") {
    w.runner.restore(state);
    w.ready();
    w.end("t0001", Ending::stopped);
    w.pump();
    CHECK(w.notes.all["t0001"].status == TrialStatus::running);
    CHECK(w.backend.started.back().job_id == "t0001");
  }
  SECTION("its result that counts is told again, and its reports are counted on") {
    state.live[0].record.final_metric = 3;
    state.live[0].steps.told(3);
    state.live[0].steps.begin(4);
    w.runner.restore(state);
    w.ready();
    const Calls told = w.decider.take();
    REQUIRE(told.size() == 4);
    CHECK(told[1] == "readopt t0001");
    CHECK_THAT(told[3], Contains("result t0001") && Contains("\"value\":\"3\""));
    w.report("t0001", 0.5, false);
    w.backend.events.back() = TrialReport{
        "t0001", "", std::get<TrialReport>(w.backend.events.back()).metric, 0, 0, false};
    w.pump();
    CHECK(w.decider.take().at(0).find("\"sequence\":4") != std::string::npos);
  }
  SECTION("one that cannot be taken over ends the session, and stops nothing") {
    w.backend.adopt_error = "too many open files";
    w.runner.restore(state);
    w.ready();
    w.closed();
    CHECK(w.backend.stopped.empty());
    CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::failed);
    CHECK_THAT(w.notes.outcome->reason, Contains("too many open files"));
    CHECK(w.notes.all["t0001"].status == TrialStatus::running);
  }
  SECTION("its start was cut short") {
    w.backend.adoption = TrialBackend::Adoption::not_started;
    w.runner.restore(state);
    w.ready();
    CHECK(w.backend.started.at(0).job_id == "t0001");
    CHECK(w.backend.started.at(0).attempt == 0);
  }
  SECTION("it was lost, and starts again") {
    w.backend.adoption = TrialBackend::Adoption::lost;
    w.runner.restore(state);
    w.ready();
    w.end("t0001", Ending::lost);
    w.pump();
    CHECK(w.backend.started.at(1).job_id == "t0001");
    CHECK(w.backend.started.at(1).attempt == 1);
  }
}

}  // namespace attune::trial_runner_requests_test
