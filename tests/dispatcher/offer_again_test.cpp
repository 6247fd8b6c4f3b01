// Trials that a restarted manager neither runs again nor has a result of: they are offered again.
#include <catch2/catch.hpp>

#include "tests/support/restart_world.h"

namespace attune::offer_again_test {

using namespace restart_world;

TEST_CASE("offered again: what may come in between") {
  Restart r;
  r.restart();
  SECTION("the manager asks for fewer, and is restarted again") {
    r.after->send("GE", "1");
    CHECK(points(r.after->take()) == "3: 0.5");
    ScriptedTuner* third = nullptr;
    const auto again = Restart::start(third);
    REQUIRE(again->restart(through_text(r.after->save())));
    again->send("IN", kSpace);
    again->take();
    again->send("GE", "3");
    CHECK(points(again->take()) == "4: 0.5, 5: 0.75, 6: 0.5");
    again->send("ME", metric("FINAL", 4, "D", "0.4"));
    CHECK(third->told == Lines{"1 completed 0.4"});
  }
  SECTION("a daemon that goes on exactly offers what is left") {
    r.after->send("GE", "1");
    r.after->take();
    ScriptedTuner* third = nullptr;
    const auto exactly = Restart::start(third);
    REQUIRE(exactly->load(through_text(r.after->save())));
    exactly->send("GE", "1");
    CHECK(points(exactly->take()) == "4: 0.75");
  }
  SECTION("their results come late, by ImportData: each counts once") {
    r.after->send("GE", "1");
    r.after->take();
    r.after->send("FD", R"([{"parameter":{"x":0.5},"value":"0.2","trialJobId":"B"},
                            {"parameter":{"x":0.75},"value":"0.3","trialJobId":"unheard"}])");
    CHECK(r.second->told == Lines{"1 completed 0.2", "2 completed 0.3"});
    r.second->next = 0.875;
    r.after->send("GE", "1");
    CHECK(points(r.after->take()) == "4: 0.875");
    r.after->send("ME", metric("FINAL", 3, "D", "0.4"));
    CHECK(r.second->told.size() == 2);
  }
  SECTION("they report after all, and run again as the manager says late") {
    r.after->send("GE", "1");
    r.after->take();
    r.after->send("AD", R"([{"parameter_id":2,"parameters":{"x":0.75}}])");
    r.second->next = 0.875;
    r.after->send("GE", "1");
    CHECK(points(r.after->take()) == "4: 0.875");
    r.after->send("ME", metric("FINAL", 2, "C2", "0.6"));
    CHECK(r.second->told == Lines{"2 completed 0.6"});
  }
  SECTION("in a space where they do not fit they are forgotten") {
    r.after->send("SS", R"({"x":{"_type":"uniform","_value":[0,0.6]}})");
    r.after->send("GE", "2");
    CHECK(points(r.after->take()) == "3: 0.5, 4: 0.5");
    r.second->script = {"not yet"};
    r.after->send("ME", metric("FINAL", 3, "D", "0.4"));
    r.after->send("ME", metric("FINAL", 4, "E", "0.4"));
    r.after->send("GE", "1");  // nothing runs that it could wait for
    CHECK(outlines(r.after->take()) == "NO 5");
  }
}

TEST_CASE("offered again: a trial starts from the same checkpoint") {
  DispatcherOptions options;
  options.capabilities.checkpoint = true;
  const auto start = [&](ScriptedTuner*& tuner) {
    auto owned = std::make_unique<ScriptedTuner>();
    tuner = owned.get();
    return std::make_unique<Stepped>(std::move(owned), false, nullptr, options);
  };
  ScriptedTuner* tuner = nullptr;
  const auto before = start(tuner);
  before->send("IN", kSpace);
  before->send("GE", "1");
  before->send("ME", metric("PERIODICAL", 0, "A", "0.3"));
  before->send("CK", R"({"trial_job_id":"A","checkpoint":"c1"})");
  before->send("ME", metric("FINAL", 0, "A", "0.3"));
  before->send("EN", end("A", 0));
  tuner->script = {"from 0"};
  before->send("GE", "1");
  CHECK(outlines(before->take()) == "ID, TR 0, TR 1 from c1");
  const auto after = start(tuner);
  REQUIRE(after->restart(through_text(before->save())));
  after->send("IN", kSpace);
  after->send("GE", "1");
  CHECK(outlines(after->take()) == "ID, TR 2 from c1");
}

}  // namespace attune::offer_again_test
