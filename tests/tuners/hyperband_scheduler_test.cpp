#include <cmath>
#include <set>

#include "base/saved_numbers.h"
#include "tests/tuners/hyperband_world.h"

namespace attune::hyperband_scheduler_test {

using namespace hyperband_world;

// In the order of a decision's words.
std::string said(const std::vector<Decision>& decisions) {
  std::string all;
  for (const Decision& decision : decisions) {
    const char* const words[] = {"keep", "save", "pause", "stop", "drop"};
    all += (all.empty() ? "" : ", ") + std::string(words[int(decision.action)]) + " " +
           std::to_string(decision.trial) + (decision.complete ? " complete" : "");
  }
  return all;
}

Setup bohb(const std::string& space = kInterval) {
  Setup setup{.name = "HyperBandForBOHB", .space = space};
  setup.arguments["max_t"] = 3;  // brackets of 3 trials to 1 and of 2 trials to 3
  return setup;
}

TEST_CASE("HyperBandScheduler: a proposal has the milestone of its bracket as budget") {
  World world;
  std::vector<double> budgets;
  for (int i = 0; i < 18; ++i) budgets.push_back(*world.proposal().budget);
  CHECK(budgets == std::vector<double>{9, 9, 9, 3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9});
  World largest_first(bohb());
  budgets.clear();
  for (int i = 0; i < 6; ++i) budgets.push_back(*largest_first.proposal().budget);
  CHECK(budgets == std::vector<double>{1, 1, 1, 3, 3, 1});
}

TEST_CASE("HyperBandScheduler: pauses at the milestone, and the best goes on") {
  World world(bohb());
  world.begin(3);
  const auto paused = world.report(0, 1, 0.25);
  CHECK(said(paused) == "pause 0");
  CHECK(paused[0].reason == "milestone 1: 0.25 ranks 1 of 1 so far and waits for 2 more");
  const auto second = world.report(1, 1, 0.5);
  CHECK(said(second) == "pause 1");
  CHECK(second[0].reason == "milestone 1: 0.5 ranks 2 of 2 so far and waits for 1 more");
  world.restart();
  const auto judged = world.report(2, 1, 0.75);
  CHECK(said(judged) == "stop 2, drop 2, stop 1, drop 1");
  CHECK(judged[0].reason == "milestone 1: 0.75 ranks 3 of 3; the best 1 go on, cutoff 0.25");
  world.restart();
  const Proposal resumed = world.proposal();
  CHECK(resumed.reason ==
        "milestone 1: 0.25 ranks 1 of 3; the best 1 go on, cutoff 0.25: goes on to 3");
  CHECK(resumed.resume == TrialId{0});
  CHECK(resumed.budget == 3);
  CHECK(world.proposal().resume == std::nullopt);  // a new bracket
  CHECK(said(world.report(0, 2, 0.2)).empty());
  const auto last = world.report(0, 3, 0.1);
  CHECK(said(last) == "stop 0 complete");
  CHECK(last[0].reason == "milestone 3: 0.1; it is the last milestone of the bracket");
}

TEST_CASE("HyperBandScheduler: the last to come goes on without a pause") {
  Setup setup = bohb();
  setup.arguments["optimize_mode"] = "maximize";
  World world(setup);
  world.begin(3);
  world.report(0, 1, 0.25);
  world.report(1, 1, 0.5);
  const auto judged = world.report(2, 1, 0.75);
  CHECK(said(judged) == "stop 0, drop 0, stop 1, drop 1");
  CHECK(judged[0].reason == "milestone 1: 0.25 ranks 3 of 3; the best 1 go on, cutoff 0.75");
  CHECK(said(world.report(2, 2, 0.5)).empty());
  CHECK(said(world.report(2, 3, 0.5)) == "stop 2 complete");
}

TEST_CASE("HyperBandScheduler: a trial that ends at its budget is continued by another one") {
  World world(bohb());
  world.begin(3);
  const auto points = world.tuner->save();
  world.tell(0, End::completed, 0.5, 1);
  world.report(1, 1, 0.75);
  world.tell(1, End::completed, 0.1, 1);  // what it had at the milestone counts
  world.tell(2, End::completed, 0.6, 1);
  const Proposal next = world.proposal();  // trial 3
  CHECK(next.checkpoint_from == TrialId{0});
  CHECK_FALSE(next.resume);
  CHECK(next.budget == 3);
  world.restart();
  CHECK(said(world.report(0, 2, 9)).empty());    // late
  CHECK(said(world.report(3, 1, 0.5)).empty());  // it began again
  world.tell(3, End::completed, 0.3, 3);
  CHECK_FALSE(world.proposal().checkpoint_from);
  CHECK(world.tuner->save()["trials"]["runners"].size() == 1);
}

TEST_CASE("HyperBandScheduler: one that goes on, and ended before it knew, is continued, too") {
  World world(bohb());
  world.begin(3);
  world.report(0, 1, 0.5);
  world.report(1, 1, 0.6);
  CHECK(said(world.report(2, 1, 0.4)) == "stop 1, drop 1, stop 0, drop 0");  // 2 goes on to 3
  world.tell(2, End::completed, 0.4, 1);                                     // it read TRIAL_BUDGET
  const Proposal next = world.proposal();
  CHECK(next.checkpoint_from == TrialId{2});
  CHECK(next.reason == "milestone 1: 0.4 ranks 1 of 3; the best 1 go on, cutoff 0.4: goes on to 3");

  World resumed(bohb());
  resumed.begin(3);
  for (const TrialId id : {0, 1, 2}) resumed.report(id, 1, static_cast<double>(id));
  CHECK(resumed.proposal().resume == TrialId{0});  // not carried out, because it ends
  resumed.tell(0, End::completed, 0, 1);
  CHECK(resumed.proposal().checkpoint_from == TrialId{0});
}

TEST_CASE("HyperBandScheduler: a trial that ends past the last milestone is over") {
  Setup setup = bohb();
  setup.arguments["stop_last_trials"] = false;
  World world(setup);
  world.begin(3);
  world.report(0, 1, 0.5);
  world.report(1, 1, 0.6);
  world.report(2, 1, 0.4);  // goes on to 3, and further
  CHECK(said(world.report(2, 3, 0.4)).empty());
  CHECK(said(world.report(2, 7, 0.4)).empty());
  world.tell(2, End::completed, 0.4, 1);
  CHECK_FALSE(world.proposal().checkpoint_from);
}

TEST_CASE("HyperBandScheduler: a trial without a usable end counts as the worst") {
  const End end = GENERATE(End::failed, End::diverged, End::stopped, End::completed);
  World world(bohb());
  world.begin(3);
  world.report(0, 1, 0.5);
  world.report(1, 1, 0.6);
  world.tell(2, end);
  CHECK(world.proposal().resume == TrialId{0});
  // The next report brings the decisions that the end caused.
  CHECK(said(world.report(0, 2, 0.5)) == "stop 1, drop 1");
  CHECK(said(world.report(0, 3, 0.5)) == "stop 0 complete");
}

TEST_CASE("HyperBandScheduler: a paused trial that fails leaves its bracket") {
  World world(bohb());
  world.begin(3);
  world.report(0, 1, 0.5);
  world.tell(0, End::failed);
  world.report(1, 1, 0.6);
  CHECK(said(world.report(2, 1, 0.7)) == "stop 2, drop 2");
  CHECK(world.proposal().resume == TrialId{1});
}

TEST_CASE("HyperBandScheduler: a trial that could not be paused is judged at its next report") {
  World world(bohb());
  world.begin(3);
  CHECK(said(world.report(0, 1, 0.5)) == "pause 0");
  CHECK(said(world.report(0, 2, 0.1)) == "pause 0");  // and has the result of the milestone
  world.report(1, 1, 0.4);
  CHECK(said(world.report(2, 1, 0.6)) == "stop 2, drop 2, stop 0, drop 0");
  CHECK(said(world.report(1, 2, 0.4)).empty());
  CHECK(said(world.report(1, 3, 0.4)) == "stop 1 complete");
}

TEST_CASE("HyperBandScheduler: reports that cannot be judged are left out") {
  Setup setup = bohb();
  setup.arguments["time_attr"] = "epoch";
  World world(setup);
  world.begin(3);
  const auto report = [&](TrialId trial, const Metrics& metrics) {
    return said(world.tuner->on_report({trial, 0, metrics}));
  };
  CHECK(report(0, {{"default", 1}}).empty());
  CHECK(report(0, {{"default", 1}, {"epoch", NAN}}).empty());
  CHECK(report(0, {{"epoch", 1}}).empty());
  CHECK(report(7, {{"default", 1}, {"epoch", 1}}).empty());  // unknown
  const auto paused = world.tuner->on_report({0, 0, {{"default", NAN}, {"epoch", 1}}});
  CHECK(said(paused) == "pause 0");
  CHECK(paused[0].reason ==
        "milestone 1: a result that is not finite ranks 1 of 1 so far and waits for 2 more");
  CHECK(report(1, {{"default", 1e9}, {"epoch", 1}}) == "pause 1");
  CHECK(report(2, {{"default", -INFINITY}, {"epoch", 1}}) == "stop 2, drop 2, stop 0, drop 0");
}

TEST_CASE("HyperBandScheduler: a bracket that will not be full is judged as it is") {
  World world(bohb(finite_space(2)));
  world.begin(2);
  CHECK(std::holds_alternative<NotYet>(world.ask()));
  CHECK(said(world.report(0, 1, 0.5)) == "pause 0");
  CHECK(std::holds_alternative<NotYet>(world.ask()));
  // The space is exhausted: nobody will take the third place.
  CHECK(said(world.report(1, 1, 0.6)) == "stop 1, drop 1");
  CHECK(world.proposal().resume == TrialId{0});
  CHECK(std::holds_alternative<NotYet>(world.ask()));
  CHECK(said(world.report(0, 3, 0.5)) == "stop 0 complete");
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
}

TEST_CASE("HyperBandScheduler: what is to be stopped goes on for a report, if nothing else does") {
  World world(bohb(finite_space(3)));
  world.begin(3);
  world.report(0, 1, 0.5);
  world.report(1, 1, 0.6);
  world.tell(2, End::failed);
  CHECK(world.proposal().resume == TrialId{0});
  world.tell(0, End::failed);
  world.restart();
  const Proposal proposal = world.proposal();
  CHECK(proposal.resume == TrialId{1});
  CHECK(proposal.budget == 1);
  CHECK(proposal.reason ==
        "milestone 1: 0.6 ranks 2 of 2; the best 1 go on, cutoff 0.5: goes on for a report, which "
        "stops it");
  CHECK(std::holds_alternative<NotYet>(world.ask()));  // once is enough
  CHECK(said(world.report(1, 2, 0.6)) == "stop 1, drop 1");
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
}

TEST_CASE("HyperBandScheduler: after maxTrialNumber trials only paused ones go on") {
  Setup setup = bohb();
  setup.max_trials = 4;
  World world(setup);
  world.begin(4);
  CHECK(std::holds_alternative<NotYet>(world.ask()));
  world.report(0, 1, 0.5);
  world.report(1, 1, 0.4);
  world.report(2, 1, 0.6);
  CHECK(world.proposal().resume == TrialId{1});
  world.report(1, 3, 0.4);
  CHECK(std::holds_alternative<NotYet>(world.ask()));
  world.report(3, 3, 0.4);
  CHECK_FALSE(world.proposal().resume);  // nothing is left: perhaps the number was raised
  const TrialId surplus = world.next - 1;
  CHECK(std::holds_alternative<NotYet>(world.ask()));
  world.report(surplus, 1, 0.4);  // it was
  CHECK_FALSE(world.proposal().resume);
}

TEST_CASE("HyperBandScheduler: a new search space does not renew maxTrialNumber") {
  Setup setup = bohb();
  setup.max_trials = 4;
  World world(setup);
  world.begin(3);
  REQUIRE(world.tuner->set_space(parse_space(parse_json(kInterval).value()).value()));
  for (const TrialId trial : {0, 1, 2}) world.tuner->adopt(trial, {{0.5}});
  CHECK_FALSE(world.proposal().resume);
  CHECK(said(world.report(3, 1, 0.5)) == "pause 3");
  CHECK(world.proposal().resume == TrialId{3});
}

TEST_CASE("HyperBandScheduler: a proposal that is withdrawn does not count for maxTrialNumber") {
  Setup setup = bohb();
  setup.max_trials = 3;
  World world(setup);
  world.begin(3);
  for (const TrialId trial : {0, 1, 2}) world.tell(trial, End::completed, 0.5, 1);
  REQUIRE(world.proposal().checkpoint_from);
  world.tuner->withdraw(world.next - 1);
  CHECK_FALSE(world.proposal().checkpoint_from);  // nothing is left: perhaps the number was raised
  CHECK(std::holds_alternative<NotYet>(world.ask()));
}

TEST_CASE("HyperBandScheduler: the searcher learns the loss at each milestone") {
  World world(bohb());
  world.begin(3);
  const auto levels = [&] {
    std::set<double> all;
    const json saved = world.tuner->save();
    const auto results = numbers(saved["searcher"]["results"]).value();  // level, loss, level, ...
    for (std::size_t i = 0; i < results.size(); i += 2) all.insert(results[i]);
    return all;
  };
  world.report(0, 1, 0.5);
  world.tell(1, End::completed, 0.4, 1);
  CHECK(levels() == std::set<double>{1});
  world.report(2, 1, 0.6);
  world.proposal();
  world.tell(world.next - 1, End::completed, 0.3, 3);
  CHECK(levels() == std::set<double>{1, 3});
}

TEST_CASE("HyperBandScheduler: trials from outside run to their own end") {
  World world(bohb());
  world.tuner->adopt(50, {{0.25}});
  CHECK(said(world.report(50, 9, 0.1)).empty());
  world.tell(50, End::completed, 0.1);
  world.tell(kImportedTrial, End::imported, 0.2);
  world.begin(1);
  CHECK(said(world.report(world.next - 1, 1, 0.5)) == "pause " + std::to_string(world.next - 1));
}

TEST_CASE("HyperBandScheduler: an argument that makes no sense is an error") {
  const auto error = [](const json& arguments) {
    const auto made = make_tuner(builtin_tuners(), "HyperBandScheduler", arguments, {}, 1);
    return made ? std::string() : made.error().message;
  };
  CHECK(error({{"milestones", 2020}}) == "HyperBandScheduler.milestones: 2018 or 2024 expected");
  CHECK(error({{"searcher", "HyperBandForBOHB"}}).find("schedule of its own") != std::string::npos);
  CHECK_FALSE(error({{"reduction_factor", 1.5}}).empty());
  CHECK_FALSE(error({{"max_t", 0}}).empty());
}

TEST_CASE("HyperBandScheduler: damaged states are errors and change nothing") {
  World world(bohb());
  world.begin(4);
  for (const TrialId id : {0, 1}) world.report(id, 1, static_cast<double>(id));
  world.tell(2, End::completed, -1, 1);
  world.tell(3, End::failed);
  world.begin(1);  // trial 4 goes on with the configuration of 2
  const json good = world.tuner->save();
  REQUIRE(good["trials"]["stops"].size() == 2);
  REQUIRE(good["trials"]["successors"].size() == 1);
  const auto refused = [&](const json& state) {
    CAPTURE(dump_json(state["trials"]));
    CHECK_FALSE(world.tuner->load(state));
    CHECK(dump_json(world.tuner->save()) == dump_json(good));
  };
  for (const auto& [key, value] : good["trials"].items()) {
    for (const json& other :
         {json(), json("x"), json(-1), json::array({1}), json::array({{1, 2}})}) {
      json damaged = good;
      damaged["trials"][key] = other;
      if (key != "successors" || !other.is_array() || !other[0].is_array()) refused(damaged);
    }
  }
  json nobody = good;
  nobody["trials"]["runners"] = json::array();
  refused(nobody);
  json unknown = good;
  unknown["trials"]["stops"][0][1] = 77;  // a configuration that the searcher does not know
  refused(unknown);
  json ended = good;
  ended["trials"]["runners"][0][3] = true;  // and it runs
  refused(ended);
  json budget = good;
  budget["trials"]["runners"][0][2] = save_numbers(std::vector{0.0});
  refused(budget);
}

}  // namespace attune::hyperband_scheduler_test
