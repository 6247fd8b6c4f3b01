// A saved session goes on in another process: what it knew, what the manager tells again, and what
// is lost.
#include <catch2/catch.hpp>

#include "tests/support/restart_world.h"
#include "tests/support/scripted_assessor.h"

namespace attune::resume_test {

using namespace restart_world;

TEST_CASE("resume: ids go on, known results are not told again, unheard trials are offered again") {
  Restart r;
  r.restart();
  r.after->send("FD", R"([{"parameter":{"x":0.25},"value":"0.1","trialJobId":"A"}])");
  CHECK(r.second->told.empty());
  r.after->send("GE", "1");
  CHECK(points(r.after->take()) == "3: 0.5");
  CHECK(r.second->told.empty());
  r.after->send("ME", metric("FINAL", 3, "D", "0.4"));
  CHECK(r.second->told == Lines{"1 completed 0.4"});
  r.second->next = 0.875;
  r.after->send("GE", "2");
  CHECK(points(r.after->take()) == "4: 0.75, 5: 0.875");
  r.after->send("EN", end("E", 4, "FAILED"));
  r.after->send("ME", metric("FINAL", 5, "F", "0.5"));
  CHECK(r.second->told == Lines{"1 completed 0.4", "2 failed -", "5 completed 0.5"});
}

TEST_CASE("resume: results that the checkpoint lacks come back through ImportData") {
  Restart r;
  r.restart();
  // B's job is known, C's is not, D was given out and ended in the last second.
  r.after->send("FD", R"([{"parameter":{"x":0.25},"value":"0.1","trialJobId":"A"},
                          {"parameter":{"x":0.5},"value":"0.2","trialJobId":"B"},
                          {"parameter":{"x":0.75},"value":"0.3","trialJobId":"C"},
                          {"parameter":{"x":0.9},"value":"0.4","trialJobId":"D"}])");
  CHECK(r.second->told == Lines{"1 completed 0.2", "2 completed 0.3", "-1 imported 0.4"});
  r.after->send("GE", "1");
  CHECK(r.second->told.size() == 3);

  SECTION("and are known after the next restart") {
    ScriptedTuner* third = nullptr;
    const auto again = Restart::start(third);
    REQUIRE(again->restart(through_text(r.after->save())));
    again->send("IN", kSpace);
    again->send("FD", R"([{"parameter":{"x":0.5},"value":"0.2","trialJobId":"B"},
                          {"parameter":{"x":0.75},"value":"0.3","trialJobId":"C"},
                          {"parameter":{"x":0.9},"value":"0.4","trialJobId":"D"}])");
    CHECK(third->told.empty());
  }
}

TEST_CASE("resume: trials that the manager runs again keep their ids, under new jobs") {
  Restart r;
  r.restart();
  r.after->send("FD", "[]");
  r.after->send("AD", R"([{"parameter_id":1,"parameter_source":"resumed","parameters":{"x":0.5}},
                          {"parameter_id":7,"parameter_source":"resumed","parameters":{"x":0.9}}])");
  CHECK(r.second->adopted == std::vector<TrialId>{7});  // 1 is known
  r.after->send("GE", "1");
  CHECK(points(r.after->take()) == "8: 0.75");
  r.after->send("ME", metric("FINAL", 1, "new", "0.6"));
  r.after->send("EN", end("new", 1));
  r.after->send("EN", end("newer", 7, "FAILED"));
  r.after->send("ME", metric("FINAL", 8, "newest", "0.7"));
  CHECK(r.second->told == Lines{"1 completed 0.6", "7 failed -", "2 completed 0.7"});
}

TEST_CASE("resume: a job that goes on under its own id can still be killed") {
  ScriptedTuner* tuner = nullptr;
  const auto with_assessor = [&] {
    auto owned = std::make_unique<ScriptedTuner>();
    tuner = owned.get();
    auto assessor = std::make_unique<ScriptedAssessor>();
    assessor->bound = 0.5;
    return std::make_unique<Stepped>(std::move(owned), false, std::move(assessor));
  };
  const auto before = with_assessor();
  before->send("IN", kSpace);
  before->send("GE", "1");
  before->send("ME", metric("PERIODICAL", 0, "A", "0.9"));
  const auto after = with_assessor();
  REQUIRE(after->restart(through_text(before->save())));
  after->send("IN", kSpace);
  after->send("ME", metric("PERIODICAL", 0, "A", "0.1"));
  CHECK(outlines(after->take()) == "ID, KI A");
}

// A daemon whose assessor the test sees.
std::unique_ptr<Stepped> start_assessed(ScriptedAssessor*& assessor) {
  auto owned = std::make_unique<ScriptedAssessor>();
  assessor = owned.get();
  return std::make_unique<Stepped>(std::make_unique<ScriptedTuner>(), false, std::move(owned));
}

TEST_CASE(
    "resume: the assessor knows the history of a trial that goes on, not of one that runs anew") {
  ScriptedAssessor* assessor = nullptr;
  const auto before = start_assessed(assessor);
  before->send("IN", kSpace);
  before->send("GE", "2");
  for (const char* job : {"A", "B"}) {
    const int id = *job - 'A';
    before->send("ME", metric("PERIODICAL", id, job, "1", 0));
    before->send("ME", metric("PERIODICAL", id, job, R"({"default": 2, "time": 5})", 1));
    before->send("ME", metric("PERIODICAL", id, job, "4", 3));  // beyond a gap
  }
  const json state = through_text(before->save());
  const auto after = start_assessed(assessor);
  REQUIRE(after->restart(state));
  after->send("IN", kSpace);
  after->send("ME", metric("PERIODICAL", 0, "A", "3", 2));
  after->send("ME", metric("PERIODICAL", 1, "B", "7", 0));
  CHECK(assessor->calls == Lines{"assess 0: 1 2 3 4", "end 1 failed", "assess 1: 7"});
  SECTION("ends are heard of once") {
    after->send("EN", end("A", 0));
    after->send("EN", end("B", 1, "FAILED"));
    CHECK(assessor->calls.back() == "end 1 failed");
    CHECK(assessor->calls.size() == 5);
  }
  SECTION("a damaged history is refused") {
    for (const char* where : {"names", "steps", "counts", "metrics", "values"}) {
      json damaged = state;
      damaged["assessor"]["running"][0]["reports"][where] = json::array();
      CHECK_FALSE(start_assessed(assessor)->load(damaged));
    }
  }
}

TEST_CASE("resume: a trial with a result does not run as a new one") {
  Restart r;
  r.restart();
  r.after->send("AD", R"([{"parameter_id":0,"parameters":{"x":0.25}}])");
  r.after->send("ME", metric("FINAL", 0, "again", "0.7"));
  CHECK(r.second->adopted.empty());
  CHECK(r.second->told.empty());
}

TEST_CASE("resume: another search space carries over what fits") {
  Restart r;
  r.after = Restart::start(r.second);
  REQUIRE(r.after->restart(through_text(r.before->save())));
  r.after->send("IN", R"({"x":{"_type":"uniform","_value":[0,0.6]}})");
  CHECK(r.second->told == Lines{"0 completed 0.1"});
  CHECK(r.second->adopted == std::vector<TrialId>{1});
}

TEST_CASE("resume: every registered tuner goes on where it was") {
  const std::string mixed = R"({"x":{"_type":"choice","_value":[1,2,3,4,5,6,7]},
                                "y":{"_type":"randint","_value":[0,9]}})";
  const std::string choices = R"({"x":{"_type":"choice","_value":[1,2,3,4,5,6,7]},
                                  "y":{"_type":"choice","_value":[0,1,2,3,4,5,6,7,8]}})";
  const TunerRegistry registry = builtin_tuners();
  for (const TunerEntry& entry : registry.entries()) {
    if (entry.name == "Batch") continue;  // has a space of its own, in its own tests
    DYNAMIC_SECTION(entry.name) {
      const auto one = Stepped::make(entry.name, {{"seed", 5}}, "Medianstop");
      const std::string& space = entry.name == "PPO" ? choices : mixed;
      one->send("IN", space);
      for (int i = 0; i < 30; ++i) {
        one->send("GE", "1");
        one->send("ME", metric("PERIODICAL", i, "J" + std::to_string(i), "0.5"));
        one->send("ME", metric("FINAL", i, "J" + std::to_string(i), std::to_string(i % 7)));
        one->send("EN", end("J" + std::to_string(i), i));
      }
      one->take();
      const auto two = Stepped::make(entry.name, {{"seed", 6}}, "Medianstop");
      REQUIRE(two->restart(through_text(one->save())));
      two->send("IN", space);
      two->take();
      for (const auto* command : {"5", "7"}) {
        one->send("GE", command);
        two->send("GE", command);
        const auto expected = one->take();
        // A tuner with brackets may wait for trials to end.
        if (!entry.wants_reports) REQUIRE_FALSE(expected.empty());
        CHECK(two->take() == expected);
      }
    }
  }
}

TEST_CASE("resume: a state that is damaged is refused, with the place") {
  Restart r;
  const json good = through_text(r.before->save());
  const std::vector<std::pair<std::string, std::string>> damages = {
      {"/jobs/next", "\"next\""},
      {"/jobs/flags", "\"flags\""},
      {"/tuner/search_space", "\"search_space\""},
      {"/tuner/session/history/points", "\"points\""},
      {"/tuner/session/trials", "\"trials\""}};
  for (const auto& [where, named] : damages) {
    CAPTURE(where);
    json damaged = good;
    const json::json_pointer at(where);
    damaged[at.parent_pointer()].erase(at.back());
    ScriptedTuner* tuner = nullptr;
    const auto loaded = Restart::start(tuner)->load(damaged);
    REQUIRE_FALSE(loaded);
    CHECK_THAT(loaded.error().message, Catch::Contains(named));
  }
  json overflowing = good;
  overflowing["/jobs/next"_json_pointer] = INT64_MAX;
  ScriptedTuner* other = nullptr;
  CHECK_FALSE(Restart::start(other)->load(overflowing));
  json shorter = good;
  shorter["/tuner/session/history/losses"_json_pointer] = "";
  ScriptedTuner* tuner = nullptr;
  CHECK_FALSE(Restart::start(tuner)->load(shorter));
}

TEST_CASE("resume: requests from before the first search space are answered, or asked again") {
  ScriptedTuner* tuner = nullptr;
  const auto before = Restart::start(tuner);
  before->send("GE", "2");
  const json state = through_text(before->save());
  const auto after = Restart::start(tuner);
  SECTION("exactly") {
    REQUIRE(after->load(state));
    after->send("IN", kSpace);
    CHECK(outlines(after->take()) == "ID, TR 0, TR 1");
  }
  SECTION("the manager has started anew") {
    REQUIRE(after->restart(state));
    after->send("IN", kSpace);
    after->send("GE", "1");
    CHECK(outlines(after->take()) == "ID, TR 2");
  }
}

TEST_CASE("resume: a trial of the manager's own goes on in its job") {
  ScriptedAssessor* assessor = nullptr;
  const auto before = start_assessed(assessor);
  before->send("IN", kSpace);
  before->send("ME", metric("PERIODICAL", nullptr, "own", "1", 0));
  const auto after = start_assessed(assessor);
  REQUIRE(after->restart(through_text(before->save())));
  after->send("ME", metric("PERIODICAL", nullptr, "own", "2", 1));
  CHECK(assessor->calls == Lines{"assess -2: 1 2"});
}

TEST_CASE("imports: a repeated record without a job is told once") {
  ScriptedTuner* tuner = nullptr;
  const auto daemon = Restart::start(tuner);
  daemon->send("IN", kSpace);
  const std::string records = R"([{"parameter":{"x":0.5},"value":1},
                                  {"parameter":{"x":0.5},"value":1.0},
                                  {"parameter":{"x":0.5},"value":2},
                                  {"parameter":{"x":0.5},"value":1,"trialJobId":"A"},
                                  {"parameter":{"x":0.5},"value":1,"trialJobId":"A"}])";
  daemon->send("FD", records);
  daemon->send("FD", records);
  CHECK(tuner->told == Lines{"-1 imported 1", "-1 imported 2", "-1 imported 1"});
}

}  // namespace attune::resume_test
