// A final result that comes behind the end of a trial that succeeded: NNI's manager stores a result
// before it passes it on, and the end does not wait for that.
#include <catch2/catch.hpp>

#include "tests/support/halving_tuner.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/transcript_text.h"

namespace attune::late_result_test {

using Lines = std::vector<std::string>;

constexpr const char* kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

std::string metric(const json& id, const std::string& job, const std::string& value) {
  return dump_json({{"parameter_id", id},
                    {"trial_job_id", job},
                    {"type", "FINAL"},
                    {"sequence", 0},
                    {"value", value}});
}
std::string end(const std::string& job, const json& id, const std::string& event = "SUCCEEDED") {
  return dump_json({{"trial_job_id", job},
                    {"event", event},
                    {"hyper_params", dump_json({{"parameter_id", id}})}});
}

// Two trials; the first has ended well, without a result.
struct Ended {
  Ended() : daemon(start(tuner)) {
    daemon->send("IN", kSpace);
    daemon->send("GE", "2");
    daemon->send("EN", end("A", 0));
    daemon->take();
  }
  static std::unique_ptr<Stepped> start(ScriptedTuner*& tuner, bool wants_reports = false) {
    auto owned = std::make_unique<ScriptedTuner>();
    tuner = owned.get();
    DispatcherOptions options;
    options.wants_reports = wants_reports;
    return std::make_unique<Stepped>(std::move(owned), false, nullptr, options);
  }
  // Another daemon that goes on from what this one saved.
  void go_on(bool manager_starts_anew) {
    const json state = parse_json(dump_json(daemon->save())).value();
    daemon = start(tuner);
    REQUIRE((manager_starts_anew ? daemon->restart(state) : daemon->load(state)).has_value());
  }
  std::string said() { return outlines(daemon->take()); }

  ScriptedTuner* tuner = nullptr;
  std::unique_ptr<Stepped> daemon;
};

TEST_CASE("late result: the first one behind a good end counts, and no other") {
  Ended f;
  const bool reloaded = GENERATE(false, true);
  CAPTURE(reloaded);
  f.daemon->send("GE", "1");  // with the end, and before the result
  if (reloaded) f.go_on(false);
  CHECK(f.tuner->told.empty());
  f.daemon->send("ME", metric(0, "A", "0.25"));
  f.daemon->send("ME", metric(0, "A", "0.5"));
  f.daemon->send("GE", "1");
  f.daemon->send("GE", "1");
  CHECK(f.tuner->told == Lines{"0 completed 0.25"});
}

TEST_CASE("late result: with the second request a trial is told without one") {
  Ended f;
  f.daemon->send("GE", "1");
  CHECK(f.tuner->told.empty());
  f.daemon->send("GE", "1");
  CHECK(f.tuner->told == Lines{"0 completed -"});
  SECTION("and later still its result is told, too") {
    const bool reloaded = GENERATE(false, true);
    CAPTURE(reloaded);
    if (reloaded) f.go_on(false);
    f.daemon->send("ME", metric(0, "A", "0.25"));
    f.daemon->send("ME", metric(0, "A", "0.5"));
    CHECK(f.tuner->told.back() == "0 completed 0.25");
    CHECK(f.tuner->adopted == std::vector<TrialId>{0});
    // Another space hears of it once.
    f.tuner->told.clear();
    f.daemon->send("SS", R"({"x":{"_type":"uniform","_value":[0,2]}})");
    CHECK(f.tuner->told == Lines{"0 completed 0.25"});
  }
}

TEST_CASE("late result: a large request is one request, whatever pieces it comes in") {
  Ended f;
  f.daemon->send("GE", "1000");
  CHECK(f.tuner->told.empty());
}

TEST_CASE("late result: a tuner that waits for nothing else is told at once, and again") {
  Ended f;
  f.daemon->send("ME", metric(1, "B", "1"));
  f.daemon->send("EN", end("B", 1));
  f.tuner->script = {"not yet"};  // before it is told, and then it proposes
  f.daemon->send("GE", "1");
  CHECK(f.said() == "TR 2");
  CHECK(f.tuner->told == Lines{"1 completed 1", "0 completed -"});
  f.daemon->send("ME", metric(0, "A", "0.25"));
  CHECK(f.tuner->told.back() == "0 completed 0.25");
}

TEST_CASE("late result: a request that waits is answered when the last trial has ended") {
  Ended f;
  f.tuner->script = {"not yet"};
  f.daemon->send("GE", "1");
  CHECK(f.said().empty());
  f.tuner->script = {"not yet"};
  f.daemon->send("EN", end("B", 1));
  CHECK(f.said() == "TR 2");
  CHECK(f.tuner->told == Lines{"0 completed -", "1 completed -"});
}

TEST_CASE("late result: of a trial that did not end well it does not count") {
  const auto event = GENERATE("FAILED", "USER_CANCELED", "SYS_CANCELED", "EARLY_STOPPED");
  CAPTURE(event);
  Ended f;
  f.daemon->send("EN", end("B", 1, event));
  f.daemon->send("ME", metric(1, "B", "0.25"));
  REQUIRE(f.tuner->told.size() == 1);
  CHECK(f.tuner->told[0].ends_with(" -"));
}

TEST_CASE("late result: after a resume it comes by ImportData, or never") {
  Ended f;
  f.go_on(/*manager_starts_anew=*/true);
  f.daemon->send("IN", kSpace);
  SECTION("by ImportData") {
    f.daemon->send("FD", R"([{"parameter":{"x":0.5},"value":"0.25","trialJobId":"A"}])");
    CHECK(f.tuner->told == Lines{"0 completed 0.25"});
  }
  SECTION("never: it is not offered again") {
    f.daemon->send("FD", "[]");
    f.daemon->send("GE", "2");
    CHECK(f.said() == "ID, TR 2, TR 3");  // trial 1 again, and a new one
    CHECK(f.tuner->told == Lines{"0 completed -"});
  }
  SECTION("the manager runs it again") {
    f.daemon->send("AD", R"([{"parameter_id":0,"parameters":{"x":0.5}}])");
    f.daemon->send("GE", "1");
    f.daemon->send("ME", metric(0, "A2", "0.25"));
    CHECK(f.tuner->told == Lines{"0 completed 0.25"});
  }
}

TEST_CASE("late result: under a wrong name in the end, as NNI 3.0 sends it") {
  Ended f;                                       // job A ended, and was said to be trial 0
  f.daemon->send("ME", metric(1, "A", "0.25"));  // it was trial 1
  CHECK(f.tuner->told == Lines{"1 completed 0.25"});
  f.daemon->send("ME", metric(0, "B", "0.5"));
  f.daemon->send("EN", end("B", 1));
  CHECK(f.tuner->told == Lines{"1 completed 0.25", "0 completed 0.5"});
}

TEST_CASE("late result: a tuner that stops trials waits for them no longer than it has to") {
  DispatcherOptions options;
  options.wants_reports = true;
  Stepped daemon(std::make_unique<HalvingTuner>(2), false, nullptr, options);
  daemon.send("IN", kSpace);
  daemon.send("GE", "3");  // two arms, and nothing to give to the third
  CHECK(outlines(daemon.take()) == "ID, TR 0, TR 1");
  daemon.send("EN", end("A", 0));
  daemon.send("ME", metric(0, "A", "0.25"));
  CHECK(daemon.take().empty());
  daemon.send("EN", end("B", 1));
  CHECK(outlines(daemon.take()) == "NO 0");
}

TEST_CASE("late result: Batch runs equal configurations as often as they stand in its list") {
  auto daemon = Stepped::make("Batch", json::object());
  daemon->send("IN", R"({"all":{"_type":"choice","_value":[{"n":1},{"n":1},{"n":1},{"n":1}]}})");
  daemon->send("GE", "1");
  daemon->send("EN", end("A", 0));
  daemon->send("GE", "1");
  daemon->send("GE", "1");  // trial 0 is told without a result
  CHECK(outlines(daemon->take()) == "ID, TR 0, TR 1, TR 2");
  if (GENERATE(false, true)) {
    const json state = parse_json(dump_json(daemon->save())).value();
    daemon = Stepped::make("Batch", json::object());
    REQUIRE(daemon->load(state).has_value());
  }
  daemon->send("ME", metric(0, "A", "1"));
  daemon->send("GE", "2");
  CHECK(outlines(daemon->take()) == "TR 3, NO 3");
}

TEST_CASE("late result: a damaged state of those that are waited for is refused") {
  Ended f;
  const json good = parse_json(dump_json(f.daemon->save())).value();
  for (const char* damage : {"AAAA", "AAAAAAAA8D8=", "\u0001"}) {
    CAPTURE(damage);
    json damaged = good;
    damaged["/tuner/session/finished"_json_pointer] = damage;
    ScriptedTuner* tuner = nullptr;
    CHECK_FALSE(Ended::start(tuner)->load(damaged));
  }
}

}  // namespace attune::late_result_test
