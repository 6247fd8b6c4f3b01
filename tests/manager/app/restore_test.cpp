// What a new manager makes of what the store has of a trial.
#include "manager/app/restore.h"

#include <catch2/catch.hpp>

#include "manager/store/store_writer.h"
#include "protocol/codec.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::restore_test {

// A trial whose first attempt has begun at 2000.
struct Left {
  Left() {
    writer.add_trial(trial);
    begin_attempt();
  }
  void begin_attempt(const std::string& from = "") {
    trial.status = TrialStatus::running;
    ++trial.attempts;
    REQUIRE(writer.begin_attempt(trial, from).has_value());
  }
  void report(std::int64_t sequence, ReportMetricData::Type type, bool late = false,
              const ReportVerdict& verdict = {}, std::optional<double> ran = {}) {
    TrialReport report = report_of(trial, sequence, 1.0, 10);
    report.metric.type = type;
    report.metric.parameter_id = trial.proposed.parameter_id;
    report.late = late;
    report.ran = ran;
    report.time = clock.wall();
    report.text = encode(report.metric).payload;
    writer.add_report(trial, report, verdict);
  }
  void end_attempt(Ending how, TrialStatus status, std::optional<double> ran = {}) {
    writer.end_attempt(trial, {"t0000", how, "", clock.wall(), 0, 0, false, ran});
    change(status);
  }
  void change(TrialStatus status) {
    trial.status = status;
    writer.change_trial(trial);
  }
  // t0005, which has saved t0005-2.
  void add_donor(bool kept) {
    TrialRecord donor = pending_trial(5);
    donor.status = TrialStatus::succeeded;
    writer.add_trial(donor);
    writer.add_checkpoint({"t0005", "t0005-2", 10, "", 3});
    if (!kept) writer.drop_checkpoint("t0005-2");
  }
  void decide(EndAsked::Kind kind) {
    writer.add_decision(
        {"t0000", kind == EndAsked::Kind::pause ? "pause" : "stop", "somebody", "a reason", kind});
  }
  Result<RestoredExperiment> try_restore(std::optional<RunnerState> state = RunnerState{}) {
    REQUIRE(writer.commit().has_value());
    StoreReader reader = StoreReader::open(folder.path).value();
    return restored_state(reader, reader.find("").value(), experiment, std::move(state));
  }
  RestoredExperiment::Trial restore(std::optional<RunnerState> state = RunnerState{}) {
    auto restored = try_restore(std::move(state)).value();
    REQUIRE(restored.live.size() == 1);
    return restored.live.front();
  }

  // Somebody sets the clock, by so many seconds beside the right time.
  void set_clock(double step) { clock.step = step; }

  struct SettableClock final : Clock {
    void advance(double seconds) { passed += seconds; }
    double now() const override { return passed; }
    double wall() const override { return 2000 + passed + step; }
    double passed = 0, step = 0;
  };
  TemporaryFolder folder;
  SettableClock clock;
  Store store = begin_experiment(folder.path, "abcd2345");
  StoreWriter writer{store, clock};
  Experiment experiment;
  TrialRecord trial = pending_trial(0);
};

TEST_CASE("restore: what was decided about the attempt that runs") {
  using Kind = EndAsked::Kind;
  Left left;
  const auto asked = [&]() -> std::optional<Kind> {
    const auto found = left.restore().asked;
    return found ? std::optional(found->kind) : std::nullopt;
  };
  CHECK_FALSE(asked().has_value());
  SECTION("its result cannot be judged") {
    left.decide(Kind::fail);
    CHECK(asked() == Kind::fail);
  }
  SECTION("it is complete") {
    left.decide(Kind::complete);
    CHECK(asked() == Kind::complete);
  }
  SECTION("a limit") {
    left.decide(Kind::early_stop);
    CHECK(asked() == Kind::early_stop);
  }
  SECTION("that the experiment ends is none, and the pause before it holds") {
    left.decide(Kind::interrupt);
    CHECK_FALSE(asked().has_value());
    left.decide(Kind::pause);
    left.decide(Kind::interrupt);
    CHECK(asked() == Kind::pause);
    left.decide(Kind::by_user);
    CHECK(asked() == Kind::by_user);
  }
  SECTION("of an earlier attempt") {
    left.decide(Kind::pause);
    left.clock.advance(1);
    left.end_attempt(Ending::paused, TrialStatus::paused);
    left.begin_attempt();
    CHECK_FALSE(asked().has_value());
  }
}

TEST_CASE("restore: the final results of the attempt that runs") {
  using Type = ReportMetricData::Type;
  Left left;
  left.report(0, Type::final, true, {false, "after the decision"});
  CHECK(left.restore().finals.empty());
  left.report(0, Type::final, true);
  CHECK(left.restore().finals.size() == 1);
  CHECK(left.restore().finals.at(0).value == 1.0);
  CHECK(left.restore().told.empty());
  // It asks for its next configuration: the decider has heard the result of the first.
  left.report(0, Type::request_parameter, false, {false, "after the decision"});
  CHECK(left.restore().finals.size() == 1);
  left.report(0, Type::request_parameter);
  CHECK(left.restore().finals.empty());
  CHECK(left.restore().told.size() == 1);
}

TEST_CASE("restore: what is said of a report decides nothing") {
  using Type = ReportMetricData::Type;
  Left left;
  left.begin_attempt();
  left.report(0, Type::final, false, {true, "no score, in words of a later version"});
  CHECK(left.restore().finals.size() == 1);
  left.report(1, Type::periodical, false, {false, "it has no finite thing that it needs"});
  CHECK(left.restore().steps.untold() == 0);
}

TEST_CASE("restore: a final result counts when its attempt has ended well") {
  Left left;
  left.experiment.stop.max_evaluations = 100;
  left.report(0, ReportMetricData::Type::periodical);
  left.report(0, ReportMetricData::Type::final);
  left.trial.final_metric = 1.0;  // as an earlier version wrote it
  left.change(TrialStatus::running);
  CHECK(left.try_restore()->status.evaluations() == 1);
  CHECK(left.restore().record.final_metric.is_null());
  const bool well = GENERATE(false, true);
  left.end_attempt(well ? Ending::succeeded : Ending::signalled, TrialStatus::running);
  CHECK(left.try_restore()->status.evaluations() == (well ? 2 : 1));
  left.begin_attempt();
  CHECK(left.restore().finals.empty());
}

TEST_CASE("restore: what the next attempt starts from") {
  Left left;
  left.writer.add_checkpoint({"t0000", "t0000-1", 10, "", 3});
  left.trial.checkpoint = "t0000-1";
  left.end_attempt(Ending::paused, TrialStatus::paused);
  SECTION("its own newest checkpoint") {
    left.change(TrialStatus::pending);
    CHECK(left.restore().start_from == "t0000-1");
  }
  SECTION("that of another trial, which the decider has named") {
    left.add_donor(true);
    left.trial.proposed = {std::int64_t{7}, {{"x", 1}}, "again", "t0000", "t0005-2"};
    left.change(TrialStatus::pending);
    const auto trial = left.restore();
    CHECK(trial.start_from == "t0005-2");
    // Results under either number are its own.
    CHECK(trial.ids == std::vector<ParameterId>{std::int64_t{0}, std::int64_t{7}});
  }
  SECTION("that of a start that was kept and did not come off") {
    left.begin_attempt("");
    --left.trial.attempts;
    left.change(TrialStatus::pending);
    CHECK(left.restore().start_from.empty());
  }
  SECTION("that of another trial, when the attempt that had started from it is lost") {
    const bool kept = GENERATE(true, false);  // earlier versions deleted it at the first report
    left.add_donor(kept);
    left.begin_attempt("t0005-2");
    left.report(0, ReportMetricData::Type::periodical);
    CHECK(left.restore().start_from == (kept ? "t0005-2" : ""));
    left.end_attempt(Ending::lost, TrialStatus::pending);
    CHECK(left.restore().start_from == (kept ? "t0005-2" : "t0000-1"));
  }
  SECTION("what that attempt has saved itself") {
    left.add_donor(true);
    left.begin_attempt("t0005-2");
    left.writer.add_checkpoint({"t0000", "t0000-2", 10, "", 3});
    left.trial.checkpoint = "t0000-2";
    left.change(TrialStatus::running);
    CHECK(left.restore().start_from.empty());
    left.end_attempt(Ending::lost, TrialStatus::pending);
    CHECK(left.restore().start_from == "t0000-2");
  }
  CHECK(left.restore().steps_saved == 3);
}

TEST_CASE("restore: counts of reports, and when the last one came") {
  Left left;
  left.clock.advance(5);
  left.report(0, ReportMetricData::Type::periodical);
  left.clock.advance(5);
  left.report(1, ReportMetricData::Type::periodical);
  auto trial = left.restore();
  CHECK(trial.steps.done() == 2);
  CHECK(trial.time.last == left.clock.wall());
  // Also of one that is paused, and is being saved.
  left.end_attempt(Ending::paused, TrialStatus::paused);
  RunnerState state;
  state.saving = {"t0000-1"};
  trial = left.restore(state);
  CHECK(trial.steps.done() == 2);
  CHECK_FALSE(trial.save_first);
  CHECK(left.restore(std::nullopt).save_first);  // of an experiment that kept no state
}

TEST_CASE("restore: how long trials have run is counted attempt by attempt") {
  Left left;
  left.experiment.stop.max_trial_seconds = 1e9;
  left.clock.advance(3);
  left.report(0, ReportMetricData::Type::periodical);
  left.clock.advance(2);
  left.end_attempt(Ending::paused, TrialStatus::paused);
  left.clock.advance(1000);  // paused
  left.begin_attempt();
  left.clock.advance(4);
  left.report(1, ReportMetricData::Type::periodical);
  CHECK(left.try_restore()->status.trial_seconds() == Approx(9));
  CHECK(left.try_restore()->status.evaluations() == 2);
}

TEST_CASE("restore: a clock that is set changes nothing but what is shown") {
  Left left;
  left.experiment.stop.max_trial_seconds = 1e9;
  left.decide(EndAsked::Kind::early_stop);
  left.report(0, ReportMetricData::Type::periodical, false, {}, 10);
  left.end_attempt(Ending::stopped, TrialStatus::pending, 15);
  const double step = GENERATE(-1000.0, 0.0, 259'427.0);
  left.set_clock(step);
  left.begin_attempt();
  CHECK_FALSE(left.restore().asked.has_value());  // that was the one before
  left.report(0, ReportMetricData::Type::periodical, false, {}, 20);
  left.set_clock(2 * step);
  left.decide(EndAsked::Kind::pause);
  left.report(1, ReportMetricData::Type::periodical, false, {}, 30);
  CHECK(left.restore().time.ran == 30);
  CHECK(left.restore().asked->kind == EndAsked::Kind::pause);
  CHECK(left.try_restore()->status.trial_seconds() == Approx(45));
  // It has run for a second, and was last seen when the clock said so.
  left.clock.advance(1);
  CHECK(left.try_restore()->seconds == Approx(1));
}

TEST_CASE("restore: which iteration comes next, also of what came too late to count") {
  Left left;
  left.report(0, ReportMetricData::Type::periodical);
  left.report(1, ReportMetricData::Type::periodical, true, {false, "after the decision"});
  CHECK(left.restore().steps.done() == 2);
  CHECK(left.restore().steps.untold() == 1);
  left.writer.add_checkpoint({"t0000", "t0000-1", 10, "", 2});
  left.trial.checkpoint = "t0000-1";
  left.end_attempt(Ending::paused, TrialStatus::paused);
  left.begin_attempt("t0000-1");
  left.report(0, ReportMetricData::Type::periodical);
  CHECK(left.restore().steps.first() == 2);
  CHECK(left.restore().steps.done() == 3);
  CHECK(left.restore().steps.untold() == 3);
}

TEST_CASE("restore: a start that failed is tried again from where it was to start") {
  Left left;
  left.trial.checkpoint = "t0000-7";
  left.writer.end_attempt(
      left.trial, {"t0000", Ending::failed, "it could not be started: no space", 2000, 0, 0});
  --left.trial.attempts;
  left.change(TrialStatus::pending);
  CHECK(left.restore().start_from.empty());
}

TEST_CASE("restore: names that lead elsewhere are refused") {
  const std::string name = GENERATE("../t0000", "/etc", "-rf", "a/b", ".hidden", "..");
  CAPTURE(name);
  Left left;
  for (auto list : {&RunnerState::saving, &RunnerState::deleting, &RunnerState::releasing}) {
    RunnerState bad;
    bad.*list = {name};
    CHECK_FALSE(left.try_restore(bad).has_value());
  }
  left.trial.checkpoint = name;
  left.change(TrialStatus::running);
  const auto restored = left.try_restore();
  REQUIRE_FALSE(restored.has_value());
  CHECK(restored.error().message.find("cannot be used") != std::string::npos);
}

}  // namespace attune::restore_test
