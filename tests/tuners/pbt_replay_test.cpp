#include <catch2/catch.hpp>

#include "space/constraint.h"
#include "space/parse.h"
#include "tuners/registry.h"

namespace attune {
extern const TunerEntry pbt_replay_entry;
}

namespace attune::pbt_replay_test {

Space space_of(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

Space two() {
  return space_of(R"({"lr": {"_type": "uniform", "_value": [0, 1]},
                      "bs": {"_type": "choice", "_value": [16, 32]}})");
}

Result<MadeTuner> make(const std::string& policy) {
  TunerRegistry registry;
  registry.add(pbt_replay_entry);
  return make_tuner(registry, "PBTReplay", policy.empty() ? json() : json{{"policy", policy}}, {},
                    1);
}

const std::string kPolicy =
    R"(["1","1",5,5,{"lr":0.1,"bs":16},{"lr":0.2,"bs":16}]
["0","1",9,10,{"lr":0.2,"bs":16},{"lr":0.25}]
["0","0",15,16,{"lr":0.25,"bs":16},{"bs":32}]
)";

struct World {
  explicit World(const std::string& policy = kPolicy) : tuner(std::move(make(policy)->tuner)) {
    REQUIRE(tuner->set_space(space));
  }
  // "new", "resume", "not yet" or "exhausted", with the parameters
  std::string ask(TrialId id) {
    const Answer answer = tuner->ask(std::vector{id})[0];
    if (std::holds_alternative<Exhausted>(answer)) return "exhausted";
    if (std::holds_alternative<NotYet>(answer)) return "not yet";
    const auto& proposal = std::get<Proposal>(answer);
    const json parameters = to_json(space, proposal.point);
    return (proposal.resume ? "resume " + std::to_string(*proposal.resume) : "new") + " " +
           dump_json(parameters);
  }
  std::vector<Decision> report(double iteration, TrialId trial = 0) {
    return tuner->on_report({trial, 0, {{"training_iteration", iteration}}});
  }
  Space space = two();
  std::unique_ptr<Tuner> tuner;
};

TEST_CASE("PBTReplay: the configuration changes when the trial has trained as much") {
  World world;
  CHECK(world.ask(0) == R"(new {"lr":0.1,"bs":16})");
  CHECK(world.ask(1) == "not yet");
  CHECK(world.report(4).empty());
  CHECK(world.report(5, 7).empty());  // another trial
  const auto decisions = world.report(5);
  REQUIRE(decisions.size() == 2);
  CHECK(decisions[0].action == Action::checkpoint);
  CHECK(decisions[1].action == Action::pause);
  CHECK(decisions[1].reason == R"(training_iteration 5: change 1 of 3, to {"lr":0.2,"bs":16})");
  CHECK(world.report(6).empty());  // it is being paused
  CHECK(world.ask(1) == R"(resume 0 {"lr":0.2,"bs":16})");
  CHECK(world.report(10).size() == 2);
  CHECK(world.ask(2) == R"(resume 0 {"lr":0.25,"bs":16})");  // only what the policy names
  CHECK(world.report(16).size() == 2);
  CHECK(world.ask(3) == R"(resume 0 {"lr":0.25,"bs":32})");
  CHECK(world.report(1000).empty());
  world.tuner->tell(std::vector{Outcome{.trial = 5, .point = {{0.1, 0}}}});
  CHECK(world.ask(4) == "not yet");
  world.tuner->tell(std::vector{Outcome{.trial = 0, .point = {{0.1, 0}}}});
  CHECK(world.ask(4) == "exhausted");
}

TEST_CASE("PBTReplay: a report that passes several changes brings the last") {
  World world;
  world.ask(0);
  CHECK(world.report(12)[1].reason.find("change 2 of 3") != std::string::npos);
  CHECK(world.ask(1) == R"(resume 0 {"lr":0.25,"bs":16})");
}

TEST_CASE("PBTReplay: saved and loaded, it goes on the same") {
  World first;
  first.ask(0);
  first.report(10);
  World second;
  REQUIRE(second.tuner->load(parse_json(dump_json(first.tuner->save())).value()));
  CHECK(second.ask(1) == first.ask(1));
  CHECK(second.report(16).size() == 2);
  for (const auto& [key, value] : std::vector<std::pair<std::string, json>>{
           {"reached", 4}, {"reached", -1}, {"state", 4}, {"points", ""}}) {
    json state = first.tuner->save();
    state[key] = value;
    CHECK_FALSE(second.tuner->load(state));
  }
}

TEST_CASE("PBTReplay: without a policy one trial runs with a random configuration") {
  World world("");
  CHECK(world.ask(0).starts_with("new "));
  CHECK(world.report(1e6).empty());
  CHECK(world.ask(1) == "not yet");
  world.tuner->withdraw(0);
  CHECK(world.ask(2).starts_with("new "));
}

TEST_CASE("PBTReplay: a policy that does not fit is an error") {
  CHECK(make("[1]").error().message ==
        "PBTReplay.policy: line 1: [trial, donor, number, number, {...}, {...}] expected");
  auto tuner = std::move(make(kPolicy)->tuner);
  const auto declined = tuner->set_space(space_of(R"({"lr":{"_type":"uniform","_value":[0,1]}})"));
  REQUIRE_FALSE(declined);
  CHECK(declined.error().message.starts_with(
      "search_space: PBTReplay needs the parameters of its policy: "));
  Space constrained = two();
  REQUIRE(set_constraints(constrained, {"lr < 0.22"}));
  CHECK(
      tuner->set_space(constrained).error().message ==
      R"(search_space: PBTReplay needs constraints that its policy keeps: {"lr":0.25} breaks one)");
}

}  // namespace attune::pbt_replay_test
