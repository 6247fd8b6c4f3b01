// Members of the parameters that are the tuner's own, beside those of the space.
#include <catch2/catch.hpp>

#include "dispatcher/repeating_tuner.h"
#include "dispatcher/session.h"
#include "space/parse.h"
#include "tests/support/scripted_tuner.h"

namespace attune::extra_parameters_test {

// Gives each trial its number, and writes down what comes back with imports.
class Numbering : public ScriptedTuner {
 public:
  json extra_parameters(TrialId id) const override { return {{"number", id}}; }
  Result<Point> point_from(const Space& space, const json& parameters) const override {
    json own = parameters;
    own.erase("number");
    return point_from_json(space, own);
  }
  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) extras.push_back(dump_json(outcome.extra));
  }
  std::vector<std::string> extras;
};

struct World {
  explicit World(bool repeating = false) {
    auto own = std::make_unique<Numbering>();
    tuner = own.get();
    session = std::make_unique<Session>(
        repeating ? make_repeating(std::move(own)) : std::unique_ptr<Tuner>(std::move(own)),
        Objective{}, Log{});
    REQUIRE(session->set_space(space("x")));
  }
  static Space space(const std::string& name) {
    return parse_space(json{{name, {{"_type", "uniform"}, {"_value", {0, 1}}}}}).value();
  }
  static std::string parameters(const Replies& replies) {
    REQUIRE(replies.size() == 1);
    return dump_json(std::get<Offer>(replies[0]).parameters);
  }
  Numbering* tuner = nullptr;
  std::unique_ptr<Session> session;
};

TEST_CASE("extra parameters: each offer of a trial has them, also through a wrapper") {
  World world(GENERATE(false, true));
  CHECK(World::parameters(world.session->request(7, 1)) == R"({"x":0.5,"number":7})");
  world.session->restart(true);
  CHECK(World::parameters(world.session->request(8, 1)) == R"({"x":0.5,"number":7})");
}

TEST_CASE("extra parameters: a trial that goes on has those of its own id") {
  World world;
  world.session->request(3, 1);
  world.tuner->decisions = {{3, Action::pause, "", false}};
  world.session->report({3, 0, {{"default", 1}}});
  world.session->paused(3);
  world.tuner->script = {"resume 3"};
  CHECK(World::parameters(world.session->request(4, 1)) ==
        R"({"x":0.5,"number":3,"TRIAL_BUDGET":9})");
}

TEST_CASE("extra parameters: the tuner is told those of an import, once") {
  World world;
  world.session->import({{.parameters = {{"x", 0.25}, {"number", 5}}, .value = 1, .has_job = true},
                         {.parameters = {{"x", 0.5}}, .value = 2, .has_job = true}});
  CHECK(world.tuner->extras == std::vector<std::string>{R"({"number":5})", "null"});
  world.tuner->extras.clear();
  REQUIRE(world.session->set_space(World::space("x")));  // told again, without them
  CHECK(world.tuner->extras == std::vector<std::string>{"null", "null"});
}

}  // namespace attune::extra_parameters_test
