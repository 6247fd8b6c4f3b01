// The assessor queue and the gate: order of intermediate results, kills, and both orders of the two
// queues.
#include <catch2/catch.hpp>

#include "dispatcher/journal_frames.h"
#include "tests/support/scripted_assessor.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/transcript_text.h"

namespace attune::assess_test {

using Lines = std::vector<std::string>;

struct Fixture {
  explicit Fixture(DispatcherOptions options = {}) {
    auto owned_tuner = std::make_unique<ScriptedTuner>();
    auto owned_assessor = std::make_unique<ScriptedAssessor>();
    tuner = owned_tuner.get();
    assessor = owned_assessor.get();
    daemon = std::make_unique<Stepped>(std::move(owned_tuner), false, std::move(owned_assessor),
                                       options);
    daemon->send("IN", R"({"x":{"_type":"uniform","_value":[0,1]}})");
    daemon->send("GE", "3");
    daemon->take();
  }
  static std::string metric(const char* type, const std::string& job, json id, int sequence,
                            const std::string& value) {
    return dump_json({{"parameter_id", std::move(id)},
                      {"trial_job_id", job},
                      {"type", type},
                      {"sequence", sequence},
                      {"value", value}});
  }
  void report(const std::string& job, const json& id, int sequence, const std::string& value) {
    daemon->accept("ME", metric("PERIODICAL", job, id, sequence, value));
  }
  void end(const std::string& job, const json& id, const std::string& event = "SUCCEEDED") {
    const std::string params = dump_json({{"parameter_id", id}});
    daemon->accept("EN",
                   dump_json({{"trial_job_id", job}, {"event", event}, {"hyper_params", params}}));
  }
  std::string said() { return outlines(daemon->take()); }

  ScriptedTuner* tuner = nullptr;
  ScriptedAssessor* assessor = nullptr;
  std::unique_ptr<Stepped> daemon;
};

TEST_CASE("intermediate results are assessed in order, a gap holds the later ones back") {
  Fixture f;
  f.report("A", 0, 1, "0.2");
  f.report("A", 0, 3, "0.4");
  f.daemon->settle();
  CHECK(f.assessor->calls.empty());
  f.report("A", 0, 0, "0.1");
  f.report("A", 0, 2, "0.3");
  f.report("A", 0, 1, "0.9");  // again: overwrites
  f.daemon->settle();
  CHECK(f.assessor->calls ==
        Lines{"assess 0: 0.1 0.2", "assess 0: 0.1 0.2 0.3 0.4", "assess 0: 0.1 0.9 0.3 0.4"});
}

TEST_CASE("the assessor hears of an end once, and only of trials that reported") {
  Fixture f;
  f.report("A", 0, 0, "1");
  f.end("A", 0);
  f.end("A", 0);
  f.end("B", 1, "FAILED");
  f.report("A", 0, 1, "2");  // after its end
  f.report("C", 2, 0, "3");
  f.end("C", 2, "USER_CANCELED");
  f.daemon->settle();
  CHECK(f.assessor->calls ==
        Lines{"assess 0: 1", "end 0 completed", "assess 2: 3", "end 2 stopped"});
}

TEST_CASE("a bad trial is killed once") {
  DispatcherOptions options;
  options.capabilities.reason = GENERATE(false, true);
  Fixture f(options);
  f.report("A", 0, 0, "1");
  f.report("A", 0, 1, "-1");
  f.report("A", 0, 2, "-2");
  f.daemon->settle();
  const auto frames = f.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0] == Frame{"KI", options.capabilities.reason
                                     ? R"({"trial_job_id":"A","reason":"-1 is below 0"})"
                                     : R"("A")"});
  f.end("A", 0, "EARLY_STOPPED");
  f.daemon->settle();
  CHECK(f.tuner->told == Lines{"0 stopped -"});
}

TEST_CASE("a trial that ends while it is judged is not killed") {
  Fixture f;
  f.report("A", 0, 0, "-1");
  f.end("A", 0);
  f.daemon->settle();
  CHECK(f.said().empty());
}

TEST_CASE("the last intermediate result counts as final when the manager wants it so") {
  DispatcherOptions options;
  options.include_intermediate = true;
  Fixture f(options);
  f.report("A", 0, 0, "-1");
  f.daemon->settle();
  CHECK(f.said() == "KI A");
  f.daemon->send("ME", Fixture::metric("FINAL", "A", 0, 0, "7"));
  f.end("A", 0, "EARLY_STOPPED");
  f.daemon->settle();
  CHECK(f.tuner->told == Lines{"0 completed -1"});
  // What the assessor said is journalled before the kill leaves.
  const auto& records = f.daemon->journal.records;
  const auto early = std::ranges::find(records, RecordKind::assess, &JournalRecord::kind);
  REQUIRE(early != records.end());
  CHECK(payload_frame(std::next(early)->payload).code == "KI");
}

TEST_CASE("a final result before the end reaches the tuner before it, in both queue orders") {
  const bool assessor_first = GENERATE(false, true);
  Fixture f;
  f.report("A", 0, 0, "1");
  f.daemon->accept("ME", Fixture::metric("FINAL", "A", 0, 0, "3"));
  f.end("A", 0);
  if (assessor_first) {
    while (f.daemon->step_assess()) {
    }
  }
  f.daemon->settle();
  CHECK(f.tuner->told == Lines{"0 completed 3"});
}

TEST_CASE("the manager's own trials are judged too, each by itself") {
  Fixture f;
  f.report("C1", nullptr, 0, "1");
  f.report("C2", nullptr, 0, "-1");
  f.report("C3", 99, 0, "-2");  // an id of an earlier run
  f.daemon->settle();
  CHECK(f.said() == "KI C2, KI C3");
  f.daemon->send("GE", "98");
  f.daemon->take();
  f.report("N", 99, 0, "1");  // now given out: another trial
  f.daemon->settle();
  CHECK(f.assessor->calls.back() == "assess 99: 1");
}

TEST_CASE("values that are not numbers are ignored") {
  Fixture f;
  f.report("A", 0, 0, "\"bad\"");
  f.report("A", 0, 0, "1");
  f.daemon->settle();
  CHECK(f.assessor->calls == Lines{"assess 0: 1"});
}

TEST_CASE("TrialEnd binds a job only if no metric has") {
  Fixture f;
  f.report("A", 1, 0, "1");
  SECTION("NNI 3.0 names another trial's parameter") {
    f.end("A", 0, "FAILED");
    f.daemon->settle();
    CHECK(f.tuner->told == Lines{"1 failed -"});
  }
  SECTION("one that a metric has bound elsewhere is not ended") {
    f.end("B", 1, "FAILED");
    f.daemon->settle();
    CHECK(f.tuner->told.empty());
  }
}

TEST_CASE("a decision on a trial whose job is not known waits for it") {
  auto owned = std::make_unique<ScriptedTuner>();
  ScriptedTuner* tuner = owned.get();
  DispatcherOptions options;
  options.wants_reports = true;
  Stepped daemon(std::move(owned), false, nullptr, options);
  daemon.send("IN", R"({"x":{"_type":"uniform","_value":[0,1]}})");
  daemon.send("GE", "2");
  daemon.take();
  tuner->decisions = {{1, Action::stop, "rung"}};
  daemon.send("ME", Fixture::metric("PERIODICAL", "A", 0, 0, "1"));
  CHECK(daemon.take().empty());
  daemon.send("ME", Fixture::metric("PERIODICAL", "B", 1, 0, "1"));
  CHECK(outlines(daemon.take()) == "KI B");
}

TEST_CASE("a TrialEnd that names another job's trial is put right when a metric shows it") {
  // As NNI 3.0 does with trials of one request: B runs trial 1, but its end names trial 0.
  Fixture f;
  f.end("B", 0, "FAILED");
  f.daemon->settle();
  CHECK(f.tuner->told == Lines{"0 failed -"});
  f.report("A", 0, 0, "1");  // trial 0 runs as A
  f.daemon->settle();
  CHECK(f.tuner->adopted == std::vector<TrialId>{0});
  f.daemon->accept("ME", Fixture::metric("FINAL", "A", 0, 0, "7"));
  f.end("A", 1);  // names the trial of B, which has failed
  f.daemon->settle();
  CHECK(f.tuner->told == Lines{"0 failed -", "0 completed 7", "1 failed -"});
  CHECK(f.assessor->calls == Lines{"assess 0: 1", "end 0 completed"});
}

}  // namespace attune::assess_test
