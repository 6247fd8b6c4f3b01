// The point that the user wants to have tried first: under every tuner, once.
#include <catch2/catch.hpp>

#include "space/constraint.h"
#include "space/parse.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/transcript_text.h"
#include "tests/support/trial_words.h"

namespace attune::dispatcher_first_point_test {

const std::string kSpace = R"({"x":{"_type":"uniform","_value":[0,1],"_default":0.25}})";
const std::string kOther = R"({"x":{"_type":"uniform","_value":[0,1],"_default":0.75}})";

// The parameters of the proposals since the last call.
std::vector<json> proposed(Stepped& daemon) {
  std::vector<json> all;
  for (const Frame& frame : daemon.take()) {
    if (frame.code == "TR") all.push_back(parse_json(frame.payload).value()["parameters"]);
  }
  return all;
}

struct Scripted {
  Scripted() : owned(std::make_unique<ScriptedTuner>()), tuner(owned.get()) {}
  std::unique_ptr<ScriptedTuner> owned;
  ScriptedTuner* tuner;
  Stepped daemon{std::move(owned), false, nullptr};
  double next() {
    daemon.send("GE", "1");
    return proposed(daemon).at(0)["x"];
  }
};

TEST_CASE("the defaults are tried first, and the tuner hears of it") {
  Scripted world;
  world.daemon.send("IN", kSpace);
  world.daemon.send("GE", "2");
  const auto all = proposed(world.daemon);
  REQUIRE(all.size() == 2);
  CHECK(all[0]["x"] == 0.25);
  CHECK(all[1]["x"] == 0.5);
  CHECK(world.tuner->adopted == std::vector<TrialId>{0});
  world.daemon.send("ME", final_metric(0, "3"));
  CHECK(world.tuner->told.back() == "0 completed 3");
}

TEST_CASE("asks before the space get the defaults as soon as it is there") {
  Scripted world;
  world.daemon.send("GE", "2");
  world.daemon.send("IN", kSpace);
  const auto all = proposed(world.daemon);
  REQUIRE(all.size() == 2);
  CHECK(all[0]["x"] == 0.25);
  CHECK(all[1]["x"] == 0.5);
}

TEST_CASE("defaults that were tried elsewhere are not tried again") {
  Scripted world;
  world.daemon.send("IN", kSpace);
  world.daemon.send("FD", R"([{"parameter":{"x":0.25},"value":9}])");
  CHECK(world.next() == 0.5);
}

TEST_CASE("new defaults are tried once, and nothing else is told again") {
  Scripted world;
  world.daemon.send("IN", kSpace);
  CHECK(world.next() == 0.25);
  CHECK(world.next() == 0.5);
  world.daemon.send("ME", final_metric(0, "3"));
  world.tuner->told.clear();
  world.daemon.send("SS", kOther);
  CHECK(world.next() == 0.75);
  CHECK(world.next() == 0.5);
  world.daemon.send("SS", kSpace);  // was tried
  CHECK(world.next() == 0.5);
  world.daemon.send("SS", R"({"x":{"_type":"uniform","_value":[0,1]}})");
  CHECK(world.next() == 0.5);
  CHECK(world.tuner->told.empty());
  CHECK(world.tuner->adopted == std::vector<TrialId>{0, 2});
  world.daemon.send("SS", R"({"x":{"_type":"uniform","_value":[0,0.9],"_default":0.25}})");
  CHECK(world.tuner->told.size() == 1);  // another space
  CHECK(world.next() == 0.5);
}

TEST_CASE("defaults that break a constraint are not tried") {
  Session session(std::make_unique<ScriptedTuner>(), Objective{"default", false}, Log());
  Space space = parse_space(parse_json(kSpace).value()).value();
  REQUIRE(set_constraints(space, {"x > 0.3"}));
  REQUIRE(session.set_space(std::move(space)));
  const Replies replies = session.request(0, 1);
  REQUIRE(replies.size() == 1);
  CHECK(std::get<Offer>(replies[0]).parameters["x"] == 0.5);
}

TEST_CASE("a bad default refuses an update, and the former space stays") {
  Scripted world;
  world.daemon.send("IN", kSpace);
  CHECK(world.next() == 0.25);
  world.daemon.send("SS", R"({"x":{"_type":"uniform","_value":[0,1],"_default":2}})");
  CHECK(world.next() == 0.5);
}

TEST_CASE("every tuner begins with the defaults, and gives them what its trials get") {
  // Batch takes the list only, GridSearch and the others both.
  const std::string numbers = R"({"x":{"_type":"quniform","_value":[0,1,0.125],"_default":0.25},
                                  "k":{"_type":"randint","_value":[0,50]}})";
  const std::string list =
      R"({"all":{"_type":"choice","_value":[{"a":1},{"a":2},{"a":3}],"_default":{"a":2}}})";
  const TunerRegistry tuners = builtin_tuners();
  for (const TunerEntry& entry : tuners.entries()) {
    CAPTURE(entry.name);
    for (const std::string& space : {numbers, list}) {
      const json arguments = entry.name == "PBT" ? json{{"population_size", 3}} : json::object();
      const auto daemon = Stepped::make(entry.name, arguments);
      daemon->send("IN", space);
      if (daemon->exit_code != kExitOk) continue;  // it cannot search that one
      daemon->take();
      daemon->send("GE", "3");
      const auto all = proposed(*daemon);
      REQUIRE(!all.empty());
      std::size_t defaults = 0;
      for (const json& one : all) {
        const bool is_default = space == list ? dump_json(one).find("\"a\":2") != std::string::npos
                                              : one["x"] == 0.25 && one["k"] == 24;
        defaults += is_default ? 1 : 0;
        // All get a budget, or folders, or none does.
        std::vector<std::string> names, of_first;
        for (const auto& [name, value] : one.items()) names.push_back(name);
        for (const auto& [name, value] : all[0].items()) of_first.push_back(name);
        CHECK(names == of_first);
        if (&one == &all[0]) CHECK(is_default);
      }
      // A population may draw one of so few candidates again.
      if (space == numbers) CHECK(defaults == 1);
    }
  }
}

}  // namespace attune::dispatcher_first_point_test
