// BOHB: its rounds, what counts as a trial's value, and its state. Its model is tested in
// bohb_model_test.cpp.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/saved_numbers.h"
#include "tests/support/through_text.h"
#include "tests/tuners/bohb_world.h"

namespace attune::bohb_test {

using namespace bohb_world;

TEST_CASE("BOHB: the best of a round go on from their checkpoints with more budget") {
  World world(budgets(1, 9, 3));
  const auto first = world.start(9);
  for (const TrialId id : first) {
    CHECK_FALSE(world.proposals.at(id).checkpoint_from);
    world.tell(id, std::abs(static_cast<double>(id) - 5.2));
  }
  const auto second = world.start(3);
  for (const std::size_t k : {0, 1, 2}) {
    const Proposal& proposal = world.proposals.at(second[k]);
    const TrialId from = std::vector<TrialId>{5, 6, 4}[k];  // the best one first
    CHECK(proposal.checkpoint_from == from);
    CHECK(proposal.point == world.proposals.at(from).point);
    CHECK_FALSE(proposal.resume);
    CHECK(proposal.budget == 3);
  }
  CHECK(world.waits());
  world.tell(second[0], 3);
  world.tell(second[1], 2);
  world.tell(second[2], 1);
  const TrialId last = world.start();
  CHECK(world.proposals.at(last).checkpoint_from == second[2]);
  CHECK(world.budget(last) == 9);
  world.tell(last, 1);
  CHECK(world.budget(world.start()) == 3);  // the next bracket
}

TEST_CASE("BOHB: results in any order and equal values make a round") {
  World world(budgets(1, 9, 3));
  const auto first = world.start(9);
  for (const TrialId id : {8, 2, 5, 0, 1, 7, 3, 4, 6}) world.tell(id, id < 5 ? 1.0 : 2.0);
  std::set<TrialId> from;
  for (const TrialId id : world.start(3)) from.insert(*world.proposals.at(id).checkpoint_from);
  CHECK(std::ranges::all_of(from, [](TrialId id) { return id < 5; }));
  CHECK(from.size() == 3);
}

TEST_CASE("BOHB: a failed trial is never promoted and holds nobody up") {
  World world(budgets(1, 9, 3));
  const auto first = world.start(9);
  const std::vector<End> ends = {End::failed, End::diverged, End::completed, End::stopped};
  for (const TrialId id : first) {
    // Only two have a result.
    if (id == 3 || id == 4) world.tell(id, static_cast<double>(id));
    if (id != 3 && id != 4) world.tell(id, {}, ends[static_cast<std::size_t>(id) % 4]);
  }
  const auto second = world.start(2);
  CHECK(world.proposals.at(second[0]).checkpoint_from == 3);
  CHECK(world.proposals.at(second[1]).checkpoint_from == 4);
  CHECK(world.waits());
  for (const TrialId id : second) world.tell(id, {}, End::failed);
  // Nobody is left: the next bracket.
  const auto third = world.start(5);
  for (const TrialId id : third) CHECK(world.budget(id) == 3);
  CHECK_FALSE(world.proposals.at(third[0]).checkpoint_from);
}

TEST_CASE("BOHB: without a final result the last report counts") {
  World world(budgets(1, 3, 3));
  world.start(3);
  world.report(0, 0, {{"default", 5}});
  world.report(0, 1, {{"default", 0.1}});
  world.report(0, 2, {{"other", 7}});           // no value
  world.report(0, 3, {{"default", HUGE_VAL}});  // neither
  world.report(1, 0, {{"default", 0.0}});
  world.report(2, 0, {{"default", 0.0}});
  world.tell(0, {});
  world.tell(1, 0.5);              // its own result counts, and not its report
  world.tell(2, {}, End::failed);  // nor that of a failed one
  CHECK(world.proposals.at(world.start()).checkpoint_from == 0);

  World other(budgets(1, 3, 3));
  other.start(3);
  other.report(0, 0, {{"default", 0.1}});
  other.report(1, 0, {{"default", 0.2}});
  other.tell(0, {}, End::diverged);  // its final result is no number
  other.tell(1, {}, End::stopped);
  other.tell(2, 0.3);
  CHECK(other.proposals.at(other.start()).checkpoint_from == 1);
}

TEST_CASE("BOHB: a report is compared in the direction of the objective") {
  World world(budgets(1, 3, 3), kReal, {{"score", true}});
  world.start(3);
  for (const TrialId id : {0, 1, 2}) {
    world.report(id, 0, {{"score", id == 1 ? 0.9 : 0.1}});
    world.tell(id, {});
  }
  const Proposal best = world.proposals.at(world.start());
  CHECK(best.checkpoint_from == 1);
  CHECK(best.reason == "budget 1: 0.9 ranks 1 of 3; the best 1 go on, cutoff 0.9: goes on to 3");
}

TEST_CASE("BOHB: reasons show all objectives, and by how much limits are broken") {
  World world(budgets(1, 9, 3), kReal, {{"loss"}, {"accuracy", true}, {"memory", false, 10.0}});
  world.start(9);
  for (const TrialId id : {0, 1, 2, 3}) {
    const double memory = id == 0 ? 5 : 10.0 + double(id);
    world.tell(id, 0.5, End::completed, {{"loss", 0.5}, {"accuracy", 0.75}, {"memory", memory}});
  }
  for (TrialId id = 4; id < 9; ++id) world.tell(id, {}, End::failed);
  const TrialId first = world.start();
  World loaded(budgets(1, 9, 3), kReal, {{"loss"}, {"accuracy", true}, {"memory", false, 10.0}});
  REQUIRE(loaded.tuner->load(parse_json(dump_json(world.tuner->save())).value()));
  loaded.next = world.next;
  const TrialId second = loaded.start();
  const std::string rest = "; the best 3 go on, cutoff a result over its limits by 2: goes on to 3";
  CHECK(world.proposals.at(first).reason == "budget 1: (0.5, 0.75) ranks 1 of 4" + rest);
  CHECK(loaded.proposals.at(second).reason ==
        "budget 1: a result over its limits by 1 ranks 2 of 4" + rest);
}

TEST_CASE("BOHB: a trial that has used its budget is stopped and has completed") {
  World world(budgets(1, 9, 3));
  const auto first = world.start(9);
  for (const TrialId id : first) world.tell(id, static_cast<double>(id));
  const TrialId trial = world.start();
  REQUIRE(world.budget(trial) == 3);
  CHECK(world.report(trial, 0, {{"default", 1}}).empty());
  CHECK(world.report(trial, 1, {{"default", 1}}).empty());
  const auto decisions = world.report(trial, 2, {{"default", 1}});
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].trial == trial);
  CHECK(decisions[0].action == Action::stop);
  CHECK(decisions[0].complete);
  CHECK(decisions[0].reason == "training_iteration 3 of 3: ends with 1");
  CHECK(world.proposals.at(trial).reason ==
        "budget 1: 0 ranks 1 of 9; the best 3 go on, cutoff 2: goes on to 3");
  CHECK(world.report(trial, 3, {{"default", 1}}).size() == 1);  // in case it began anew
  world.tell(trial, 1);
  CHECK(world.report(trial, 4, {{"default", 1}}).empty());  // it has ended
  CHECK(world.report(77, 9, {{"default", 1}}).empty());     // unknown
}

TEST_CASE("BOHB: a checkpoint is saved for a successor, and dropped once nobody needs it") {
  World world(budgets(1, 3, 3));
  world.start(3);
  for (const TrialId id : {0, 1, 2}) {
    CHECK(world.report(id, 0, {{"default", 3.0 - double(id)}}).size() == 1);
    world.tell(id, 3.0 - double(id));
  }
  CHECK(world.upkeep == std::vector<std::string>{"save 0", "save 1", "save 2"});
  world.upkeep.clear();
  const TrialId last = world.start();
  CHECK(world.proposals.at(last).checkpoint_from == 2);
  world.report(last, 0, {{"default", 1}});
  CHECK(world.upkeep == std::vector<std::string>{"drop 0", "drop 1"});
  World loaded(budgets(1, 3, 3));
  REQUIRE(loaded.tuner->load(world.tuner->save()));
  loaded.proposals = world.proposals;
  CHECK(loaded.report(last, 2, {{"default", 1}}).size() == 1);  // the last round saves nothing
  loaded.tell(last, 1);
  loaded.next = world.next;
  const TrialId next = loaded.start();
  loaded.report(next, 0, {{"default", 1}});
  CHECK(loaded.upkeep == std::vector<std::string>{"drop 2", "drop 3"});
}

TEST_CASE("BOHB: a manager that cannot pause lets a trial end by itself") {
  World world(budgets(1, 3, 3), kReal, {{}}, 1, false);
  world.start();
  for (int step = 0; step < 3; ++step) CHECK(world.report(0, step, {{"default", 1}}).empty());
  CHECK(world.upkeep.empty());
}

TEST_CASE("BOHB: the resource is the metric that time_attr names") {
  json arguments = budgets(1, 9, 3);
  arguments["time_attr"] = "epoch";
  World world(arguments);
  world.start();
  CHECK(world.report(0, 50, {{"default", 1}}).empty());  // it does not say
  CHECK(world.report(0, 51, {{"epoch", NAN}}).empty());
  CHECK(world.report(0, 52, {{"epoch", 0.5}}).empty());
  CHECK(world.report(0, 53, {{"epoch", 1}}).size() == 1);
  world.tell(0, {}, End::stopped);  // the first report counts, and it has used its budget
  for (const TrialId id : world.start(8)) world.tell(id, 2);
  CHECK(world.proposals.at(world.start()).checkpoint_from == 0);
}

TEST_CASE("BOHB: the result of an end that was a mistake counts while its round runs") {
  World world(budgets(1, 3, 3));
  world.start(3);
  world.tell(0, {});
  world.tell(1, 0.5);
  world.tuner->adopt(0, world.proposals.at(0).point);
  world.tell(2, 0.4);
  CHECK(world.waits());
  world.tell(0, 0.1);
  const TrialId next = world.start();
  CHECK(world.proposals.at(next).checkpoint_from == 0);
  world.tuner->adopt(1, world.proposals.at(1).point);  // too late: it belongs to no round now
  world.tell(1, 0.0);
  CHECK(world.waits());
  world.tell(next, 0.2);
  CHECK(world.budget(world.start()) == 3);
}

TEST_CASE("BOHB: a proposal that is withdrawn is replaced") {
  World world(budgets(1, 3, 3));
  world.start(2);
  world.tuner->withdraw(1);
  world.tuner->withdraw(1);
  world.tuner->withdraw(99);
  world.start(2);
  CHECK(world.waits());
  for (const TrialId id : {0, 2, 3}) world.tell(id, 1);
  CHECK(world.budget(world.start()) == 3);
}

TEST_CASE("BOHB: in a finite space no configuration is new twice") {
  World world(budgets(1, 3, 3), kFinite);
  std::set<std::vector<double>> fresh;
  world.import({{2, 3}}, 0.1, 3);
  fresh.insert({2, 3});
  std::vector<TrialId> running;
  for (int k = 0; k < 60; ++k) {
    const Answer answer = world.ask();
    if (std::holds_alternative<Exhausted>(answer)) break;
    if (const auto* proposal = std::get_if<Proposal>(&answer)) {
      running.push_back(world.next - 1);
      if (!proposal->checkpoint_from) CHECK(fresh.insert(proposal->point.values).second);
    } else {
      for (const TrialId id : running) world.tell(id, world.x(id));
      running.clear();
    }
  }
  CHECK(fresh.size() == 12);
  CHECK(running.empty());  // what was found last had its last round, too
  for (int k = 0; k < 3; ++k) CHECK(std::holds_alternative<Exhausted>(world.ask()));
}

TEST_CASE("BOHB: several objectives rank by fronts and limits come first") {
  const std::vector<Objective> objectives = {{"loss"}, {"score", true}, {"time", false, 5.0}};
  World world(budgets(1, 9, 3), kReal, objectives);
  world.start(9);
  // 2, 4 and 6 are the front of those that keep the limit; 8 is better in all, but takes too long.
  const std::map<TrialId, Metrics> results = {
      {0, {{"loss", 3}, {"score", 1}, {"time", 1}}}, {1, {{"loss", 4}, {"score", 2}, {"time", 1}}},
      {2, {{"loss", 1}, {"score", 2}, {"time", 5}}}, {3, {{"loss", 9}, {"score", 5}, {"time", 1}}},
      {4, {{"loss", 2}, {"score", 6}, {"time", 1}}}, {5, {{"loss", 3}, {"score", 5}, {"time", 1}}},
      {6, {{"loss", 5}, {"score", 9}, {"time", 1}}}, {7, {{"loss", 0}, {"score", 9}}},
      {8, {{"loss", 0}, {"score", 9}, {"time", 6}}}};
  for (const auto& [id, metrics] : results) {
    if (id != 4) world.tell(id, metrics[0].second, End::completed, metrics);
  }
  world.report(4, 0, results.at(4));
  world.report(4, 1, {{"loss", 0}, {"score", 9}});  // incomplete
  world.tell(4, {});
  std::set<TrialId> from;
  for (const TrialId id : world.start(3)) from.insert(*world.proposals.at(id).checkpoint_from);
  CHECK(from == std::set<TrialId>{2, 4, 6});
}

// What happens in a turn is a function of its number.
void turn(World& world, std::vector<TrialId>& running, int number) {
  Rng rng = Rng(9).fork(std::to_string(number));
  const Answer answer = world.ask();
  if (std::holds_alternative<Proposal>(answer)) running.push_back(world.next - 1);
  if (rng.index(7) == 0) world.import(world.proposals.begin()->second.point, rng.uniform(), 1);
  for (const TrialId id : running) {
    world.report(id, number, {{"default", rng.uniform()}, {"score", rng.uniform()}});
  }
  while (running.size() > 3 || (!running.empty() && !std::holds_alternative<Proposal>(answer))) {
    const std::size_t k = rng.index(running.size());
    const std::vector<End> ends = {End::completed, End::failed, End::stopped};
    if (rng.index(4) == 0) {
      world.tell(running[k], {}, ends[rng.index(3)]);
    } else {
      const double loss = rng.uniform();
      world.tell(running[k], loss, End::completed, {{"default", loss}, {"score", rng.uniform()}});
    }
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

const std::vector<std::vector<Objective>> kObjectives = {{{}}, {{}, {"score", true}}};

TEST_CASE("BOHB: saved and loaded at any time it goes on the same") {
  for (const auto& objectives : kObjectives) {
    for (const std::string& text : {kReal, kFinite, kNested}) {
      World world(budgets(1, 9, 3), text, objectives);
      std::vector<TrialId> running;
      for (int number = 0; number < 90; ++number) {
        if (number % 7 == 3) {
          World copy(budgets(1, 9, 3), text, objectives, 99);
          REQUIRE(copy.tuner->load(through_text(world.tuner->save())));
          CHECK(dump_json(copy.tuner->save()) == dump_json(world.tuner->save()));
          copy.next = world.next;
          copy.proposals = world.proposals;
          World original(budgets(1, 9, 3), text, objectives, 5);
          REQUIRE(original.tuner->load(through_text(world.tuner->save())));
          std::vector<TrialId> same = running;
          for (int k = 0; k < 7; ++k) turn(copy, same, number + k);
          for (int k = 0; k < 7; ++k) turn(world, running, number + k);
          CHECK(dump_json(copy.tuner->save()) == dump_json(world.tuner->save()));
          number += 6;
        } else {
          turn(world, running, number);
        }
      }
    }
  }
}

TEST_CASE("BOHB: damaged states are errors and change nothing") {
  World world(budgets(1, 9, 3), kNested);
  std::vector<TrialId> running;
  // Until a trial of round 1 has begun, and others are to come.
  const auto is_full = [](const json& state) {
    return state["round"] == 1 && numbers_at(state, "from")->size() == 1;
  };
  for (int number = 0; number < 60 && !is_full(world.tuner->save()["brackets"]); ++number) {
    turn(world, running, number);
  }
  const json good = world.tuner->save();
  REQUIRE(is_full(good["brackets"]));
  const auto refuses = [&](const json& state) {
    CHECK_FALSE(world.tuner->load(state));
    CHECK(dump_json(world.tuner->save()) == dump_json(good));
  };
  const auto spoil = [&](auto&& with) {
    for (const json& other : {json("x"), json(1.5), json::array({"x"}), json(), json(-1)}) {
      refuses(with(other));
    }
  };
  for (const json& state : {json(), json(3), json("x"), json::array(), json::object()}) {
    refuses(state);
  }
  for (const auto& [key, value] : good.items()) {
    CAPTURE(key);
    spoil([&](const json& other) {
      json damaged = good;
      damaged[key] = other;
      return damaged;
    });
    json damaged = good;
    damaged.erase(key);
    refuses(damaged);
  }
  for (const auto& [key, value] : good["brackets"].items()) {
    if (key == "why") continue;  // any text is possible
    CAPTURE(key);
    spoil([&](const json& other) {
      json damaged = good;
      damaged["brackets"][key] = other;
      return damaged;
    });
    json damaged = good;
    damaged["brackets"].erase(key);
    refuses(damaged);
    if (!value.is_string()) continue;
    damaged["brackets"][key] = save_numbers(std::vector{HUGE_VAL});
    refuses(damaged);
  }
  const auto with = [&](const char* key, const json& value) {
    json damaged = good;
    damaged["brackets"][key] = value;
    refuses(damaged);
  };
  with("why", json::array());
  with("why", json::array({1}));
  with("s", 3);
  with("s", 0);  // it has no round 1
  with("fresh", 1);
  auto ids = numbers_at(good["brackets"], "trials").value();
  REQUIRE(ids.size() >= 2);
  ids[1] = ids[0];
  with("trials", save_numbers(ids));
  json damaged = good;
  damaged["budgets"] = save_numbers(std::vector{0.0});
  refuses(damaged);
  damaged["budgets"] = save_numbers(std::vector{1.0, 1.0});
  damaged["results"] = {good["results"][0], good["results"][0]};
  refuses(damaged);
}

TEST_CASE("BOHB: arguments that make no sense are errors that say why") {
  const auto error = [](const json& arguments) {
    const auto result = made(arguments);
    return result ? "" : result.error().message;
  };
  CHECK(error({{"config_space", "space.pcs"}}).starts_with("BOHB.config_space: not supported"));
  CHECK(error({{"min_budget", 9}, {"max_budget", 3}}) ==
        "BOHB.max_budget: 3 is below min_budget 9");
  CHECK(error({{"min_budget", 0}}).find("min_budget") != std::string::npos);
  CHECK(error({{"eta", 1}}).find("eta") != std::string::npos);
  CHECK(error({{"config_space", nullptr}, {"min_points_in_model", 7}}).empty());
  const auto plain = made(json::object());
  REQUIRE(plain);
  CHECK(plain->maximize);
  CHECK(plain->wants_reports);
}

}  // namespace attune::bohb_test
