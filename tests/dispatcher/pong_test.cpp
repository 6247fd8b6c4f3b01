// PO comes after everything that follows from what came before its PI, also after what follows from
// a decision.
#include <catch2/catch.hpp>

#include "tests/support/exact_state.h"
#include "tests/support/scripted_assessor.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/through_text.h"
#include "tests/support/transcript_text.h"

namespace attune::pong_test {

// Trial 0 runs as the job A. A request waits, which the tuner can answer once it has the result of
// that trial. The tuner or the assessor completes it at its first report.
struct World {
  explicit World(bool by_tuner, std::int64_t revision = kRevision) : by_tuner(by_tuner) {
    options.capabilities = {.sync = true};
    options.wants_reports = true;
    options.revision = revision;
    daemon = start();
    daemon->send("IN", R"({"x":{"_type":"uniform","_value":[0,1]}})");
    daemon->send("GE", "1");
    tuner->script = {"not yet", "not yet"};  // at the request and at the report
    daemon->send("GE", "1");
    daemon->take();
  }
  std::unique_ptr<Stepped> start() {
    auto tuner_part = std::make_unique<ScriptedTuner>();
    auto assessor_part = std::make_unique<ScriptedAssessor>();
    tuner = tuner_part.get();
    if (by_tuner) tuner->decisions = {{0, Action::stop, "27 of 27", true}};
    assessor_part->bound = by_tuner ? 0 : 1;
    assessor_part->complete = true;
    return std::make_unique<Stepped>(std::move(tuner_part), false, std::move(assessor_part),
                                     options);
  }
  // The result follows from the report, so it stands behind the PI.
  void report_and_ping() {
    const Frame report = exact_state::metric("PERIODICAL", 0, "A", "0.25");
    daemon->accept(report.code, report.payload);
    daemon->accept("PI", "t");
    if (by_tuner) REQUIRE(daemon->step_tune());
    REQUIRE(daemon->step_assess());
  }
  // The tuner is the last to reach the PI.
  void pass() {
    while (daemon->step_assess()) {
    }
    daemon->settle();
  }
  std::string said() { return outlines(daemon->take()); }

  const bool by_tuner;
  DispatcherOptions options;
  ScriptedTuner* tuner = nullptr;
  std::unique_ptr<Stepped> daemon;
};

TEST_CASE("PO: after all that follows from a decision") {
  const bool by_tuner = GENERATE(false, true);
  const std::int64_t revision = GENERATE(0, 1);
  CAPTURE(by_tuner, revision);
  World w(by_tuner, revision);
  w.report_and_ping();
  w.pass();
  // What an earlier attuned has begun goes on as it was.
  CHECK(w.said() == (revision == 0 ? "KI A, PO, TR 1" : "KI A, TR 1, PO"));
}

TEST_CASE("PO: in the order of the PI, though an earlier one has to wait longer") {
  World w(GENERATE(false, true));
  w.report_and_ping();
  w.daemon->accept("PI", "u");
  w.pass();
  const auto frames = w.daemon->take();
  REQUIRE(outlines(frames) == "KI A, TR 1, PO, PO");
  CHECK(frames[2].payload == "t");
}

TEST_CASE("PO: a daemon that goes on knows what it waits for") {
  World w(GENERATE(false, true));
  w.report_and_ping();
  w.daemon->begin_save();
  w.pass();
  CHECK(w.said() == "KI A, TR 1, PO");
  const json state = through_text(w.daemon->saved);
  w.daemon = w.start();
  REQUIRE(w.daemon->load(state).has_value());
  if (!w.by_tuner) w.tuner->script = {"not yet"};  // the report still waits for the tuner
  w.pass();
  CHECK(w.said() == "TR 1, PO");
  json odd = state;
  odd["echoes"][0]["followed"] = 1;
  CHECK_FALSE(w.start()->load(odd).has_value());
}

}  // namespace attune::pong_test
