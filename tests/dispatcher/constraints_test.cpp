// Constraints and objectives in a session: no infeasible trial is ever given out.
#include <catch2/catch.hpp>

#include "space/constraint.h"
#include "space/parse.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/transcript_text.h"

namespace attune::constraints_test {

Space constrained(const std::string& search_space, const std::vector<std::string>& constraints) {
  Space space = parse_space(parse_json(search_space).value()).value();
  REQUIRE(set_constraints(space, constraints).has_value());
  return space;
}

struct Registered {
  Registered(const std::string& name, const Space& space, json arguments = json::object())
      : session(make(name, std::move(arguments)), Objective{}, Log()) {
    REQUIRE(session.set_space(space).has_value());
  }
  static std::unique_ptr<Tuner> make(const std::string& name, json arguments) {
    arguments["seed"] = 5;
    return std::move(make_tuner(builtin_tuners(), name, arguments, {}, 1).value().tuner);
  }
  // What is proposed to one request after the other, until there is no more.
  std::vector<json> all(int most) {
    std::vector<json> proposals;
    for (TrialId id = 0; id < most; ++id) {
      const Replies replies = session.request(id, 1);
      if (replies.empty()) break;
      const auto* offer = std::get_if<Offer>(&replies[0]);
      if (!offer) break;
      proposals.push_back(offer->parameters);
      session.final_result(id, offer->parameters.begin().value());
      session.trial_end(id, End::completed);
    }
    return proposals;
  }
  Session session;
};

TEST_CASE("constraints: every tuner proposes feasible points only, all of a finite space") {
  const Space space = constrained(R"({"a":{"_type":"randint","_value":[0,12]},
                                      "b":{"_type":"randint","_value":[0,12]}})",
                                  {"a + b < 6"});
  const std::string name = GENERATE("Random", "GridSearch", "TPE", "Anneal", "Evolution");
  CAPTURE(name);
  std::set<std::string> seen;
  for (const json& point : Registered(name, space).all(1000)) {
    CHECK(point.at("a").get<int>() + point.at("b").get<int>() < 6);
    CHECK(seen.insert(dump_json(point)).second);
  }
  CHECK(seen.size() == 21);
}

TEST_CASE("constraints: every tuner finds its way through a narrow continuous space") {
  const Space space = constrained(R"({"a":{"_type":"uniform","_value":[0,1]},
                                      "b":{"_type":"uniform","_value":[0,1]}})",
                                  {"abs(a - b) < 0.05"});
  const std::string name = GENERATE("Random", "GridSearch", "TPE", "Anneal", "Evolution");
  CAPTURE(name);
  const auto points = Registered(name, space).all(60);
  CHECK(points.size() == 60);
  for (const json& point : points) {
    CHECK(std::abs(point.at("a").get<double>() - point.at("b").get<double>()) < 0.05);
  }
}

// The best of what is likely to be good breaks the constraint, however often it is drawn.
TEST_CASE("constraints: every tuner goes on where the optimum is at their border") {
  const Space space = constrained(R"({"a":{"_type":"uniform","_value":[0,1]},
                                      "b":{"_type":"uniform","_value":[0,1]},
                                      "c":{"_type":"uniform","_value":[0,1]}})",
                                  {"a + b + c > 2.55"});
  const auto check = [&](const std::string& name, const json& arguments) {
    CAPTURE(name, dump_json(arguments));
    const auto points = Registered(name, space, arguments).all(60);
    CHECK(points.size() == 60);
    double least = 1;
    for (const json& point : points) least = std::min(least, point.at("a").get<double>());
    CHECK(least < 0.7);
  };
  const TunerRegistry tuners = builtin_tuners();
  for (const TunerEntry& entry : tuners.entries()) {
    if (entry.name == "Batch" || entry.name == "PPO") continue;  // decline the space
    if (entry.wants_reports) continue;                           // have populations of a few trials
    if (entry.name != "GridSearch") check(entry.name, json::object());  // has few points there
  }
  check("TPE", {{"multivariate", false}});
}

TEST_CASE("constraints: Batch skips what breaks them") {
  const Space space =
      constrained(R"({"c":{"_type":"choice","_value":[3, 1, 4, 1, 5]}})", {"c < 4"});
  CHECK(Registered("Batch", space).all(10) == std::vector<json>{3, 1, 1});
}

TEST_CASE(
    "constraints: a proposal that breaks one is withdrawn, asked for again, and at last given up") {
  auto owned = std::make_unique<ScriptedTuner>();
  ScriptedTuner* tuner = owned.get();
  Session session(std::move(owned), Objective{}, Log());
  REQUIRE(session.set_space(constrained(R"({"x":{"_type":"uniform","_value":[0,1]}})", {"x > 0.5"}))
              .has_value());
  tuner->next = 0.75;
  CHECK(session.request(0, 1).size() == 1);
  tuner->next = 0.25;
  tuner->script = {"propose", "propose", "exhausted"};
  const Replies none = session.request(1, 1);
  REQUIRE(none.size() == 1);
  CHECK(std::get<NoMore>(none[0]).reason == "the search space is exhausted");
  CHECK(tuner->withdrawn == std::vector<TrialId>{1, 1});

  SECTION("while a trial runs there is hope") {
    CHECK(session.request(2, 1).empty());
    CHECK(tuner->withdrawn.size() == 2 + 1000);
    tuner->next = 0.75;
    CHECK(session.trial_end(0, End::failed).size() == 1);
  }
  SECTION("and none when nothing runs") {
    session.trial_end(0, End::failed);
    const Replies replies = session.request(2, 1);
    REQUIRE(replies.size() == 1);
    CHECK(std::get<NoMore>(replies[0]).reason ==
          "none of the last 1000 proposals could be carried out");
  }
  CHECK(tuner->told.size() <= 1);  // nothing of what was withdrawn
}

TEST_CASE("constraints: that do not fit the search space are a configuration error") {
  TuneWorker worker(Session(std::make_unique<ScriptedTuner>(), Objective{}, Log()), Log(),
                    {"x < 0.5", "length < 1"});
  const json space = parse_json(R"({"x":{"_type":"uniform","_value":[0,1]}})").value();
  const auto messages = worker.handle(SetSpace{space, true});
  REQUIRE(messages.size() == 1);
  const auto& failed = std::get<Failed>(messages[0]);
  CHECK(failed.exit_code == kExitConfiguration);
  CHECK(failed.message ==
        R"(constraints[1] "length < 1": unknown parameter "length" at position 0)");
}

TEST_CASE("objectives: the first one is the loss, under its own name") {
  auto owned = std::make_unique<ScriptedTuner>();
  ScriptedTuner* tuner = owned.get();
  Session session(std::move(owned), Objective{"accuracy", true}, Log());
  REQUIRE(session.set_space(constrained(R"({"x":{"_type":"uniform","_value":[0,1]}})", {}))
              .has_value());
  session.request(0, 4);
  session.final_result(0, {{"time", 3}, {"accuracy", 0.5}, {"default", 9}});
  session.final_result(1, 0.25);  // a number alone is the first objective
  session.final_result(2, {{"default", 9}});
  CHECK(tuner->told == std::vector<std::string>{"0 completed -0.5 accuracy=0.5 time=3 default=9",
                                                "1 completed -0.25", "2 diverged -"});
  session.import({{.parameters = {{"x", 0.5}}, .value = {{"accuracy", 1}}}});
  CHECK(tuner->told.back() == "-1 imported -1");
}

}  // namespace attune::constraints_test
