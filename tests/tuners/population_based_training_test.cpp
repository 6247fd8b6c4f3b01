#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "space/parse.h"
#include "tuners/registry.h"

namespace attune {
extern const TunerEntry population_based_training_entry;
}

namespace attune::population_based_training_test {

constexpr const char* kSpace = R"({"lr": {"_type": "loguniform", "_value": [0.0001, 1]},
                                   "bs": {"_type": "choice", "_value": [16, 32, 64]}})";

Result<MadeTuner> try_make(const json& arguments, const Context& context = {}) {
  TunerRegistry registry;
  registry.add(population_based_training_entry);
  return make_tuner(registry, "PopulationBasedTraining", arguments, context, 1);
}

// A manager of few slots, whose trials train when they are told to. A trial is its place in the
// population: a paused one that goes on keeps its id.
class World {
 public:
  explicit World(const json& arguments, Context context = {}, const char* text = kSpace)
      : arguments_(arguments), context_(std::move(context)) {
    space = parse_space(parse_json(text).value()).value();
    tuner = fresh();
  }

  std::unique_ptr<Tuner> fresh() const {
    auto made = try_make(arguments_, context_);
    if (!made) FAIL(made.error().message);
    REQUIRE(made->tuner->set_space(space));
    return std::move(made->tuner);
  }
  void restore() {
    auto next = fresh();
    const json state = parse_json(dump_json(tuner->save())).value();
    const auto loaded = next->load(state);
    if (!loaded) FAIL(loaded.error().message);
    CHECK(dump_json(next->save()) == dump_json(state));
    tuner = std::move(next);
  }

  // "new 0", "resume 3", "resume 3 from 1", "not yet" or "exhausted".
  std::string ask() {
    const TrialId id = next_id_++;
    const Answer answer = tuner->ask(std::vector{id})[0];
    if (std::holds_alternative<Exhausted>(answer)) return "exhausted";
    if (std::holds_alternative<NotYet>(answer)) return "not yet";
    const auto& proposal = std::get<Proposal>(answer);
    const TrialId trial = proposal.resume.value_or(id);
    points[trial] = proposal.point;
    CHECK(proposal.reason.empty() == !(proposal.resume || proposal.checkpoint_from));
    why = proposal.reason;
    std::string text = (proposal.resume ? "resume " : "new ") + std::to_string(trial);
    if (proposal.checkpoint_from) text += " from " + std::to_string(*proposal.checkpoint_from);
    return text;
  }

  std::vector<Decision> report(TrialId trial, double iteration, double loss) {
    return tuner->on_report(
        {trial, steps_[trial]++, {{"default", loss}, {"training_iteration", iteration}}});
  }
  // The actions of report(): "", "checkpoint", "pause", "checkpoint pause", "stop".
  std::string acts(TrialId trial, double iteration, double loss) {
    std::string text;
    for (const Decision& decision : report(trial, iteration, loss)) {
      CHECK(decision.trial == trial);
      CHECK_FALSE(decision.reason.empty());
      text += text.empty() ? "" : " ";
      text += decision.action == Action::checkpoint ? "checkpoint"
              : decision.action == Action::pause    ? "pause"
                                                    : "stop";
    }
    return text;
  }
  void end(TrialId trial, End how = End::completed, std::optional<double> loss = 1.0) {
    tuner->tell(std::vector{Outcome{.trial = trial,
                                    .point = points.at(trial),
                                    .loss = how == End::completed ? loss : std::nullopt,
                                    .metrics = {},
                                    .end = how}});
  }

  std::unique_ptr<Tuner> tuner;
  Space space;
  std::map<TrialId, Point> points;
  std::string why;  // the reason of the last proposal

 private:
  json arguments_;
  Context context_;
  std::map<TrialId, std::int64_t> steps_;
  TrialId next_id_ = 0;
};

TEST_CASE("PopulationBasedTraining: a loser pauses, and goes on from the checkpoint of a winner") {
  World world({{"population_size", 4}, {"perturbation_interval", 5}, {"resample_probability", 0}});
  for (int i = 0; i < 4; ++i) CHECK(world.ask() == "new " + std::to_string(i));
  CHECK(world.ask() == "not yet");
  CHECK(world.acts(0, 4, 0.1).empty());
  CHECK(world.acts(0, 5, 0.1).empty());  // alone
  CHECK(world.acts(1, 5, 0.05) == "checkpoint");
  CHECK(world.acts(2, 5, 0.2).empty() == false);  // the worst of three
  const Point before = world.points[2], donor = world.points[1];
  CHECK(world.acts(2, 6, 0.2).empty());  // too late: it is paused
  CHECK(world.ask() == "resume 2 from 1");
  const Point after = world.points[2];
  const double ratio = after.values[0] / donor.values[0];
  CHECK((ratio == Approx(1.2) || ratio == Approx(0.8) || after.values[0] == 1 ||
         after.values[0] == 0.0001));
  CHECK(std::abs(after.values[1] - donor.values[1]) <= 1);
  CHECK(world.acts(3, 5, 0.15).empty());  // neither among the best nor among the worst
  CHECK(world.ask() == "not yet");
  // The copy counts from the donor's state on.
  CHECK(world.acts(2, 9, 0.04).empty());
  CHECK(world.acts(2, 10, 0.04) == "checkpoint");
}

TEST_CASE("PopulationBasedTraining: the reasons name numbers, and the line of Ray's policy file") {
  const bool maximize = GENERATE(false, true);
  const double sign = maximize ? -1 : 1;
  World world({{"population_size", 2},
               {"perturbation_interval", 5},
               {"resample_probability", 0},
               {"optimize_mode", maximize ? "maximize" : "minimize"},
               {"mutations", "bs"}});
  world.ask();
  world.ask();
  world.points[0].values = {0.5, 0};
  world.acts(0, 5, sign * 0.25);
  CHECK(world.report(0, 10, sign * 0.25).empty());
  CHECK(world.report(1, 5, sign * 0.125)[0].reason ==
        (maximize ? "training_iteration 5: -0.125 ranks 1 of 2, among the best 1"
                  : "training_iteration 5: 0.125 ranks 1 of 2, among the best 1"));
  const auto decisions = world.report(0, 15, sign * 0.5);
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].action == Action::pause);
  world.restore();
  CHECK(world.ask() == "resume 0 from 1");
  const std::size_t policy = world.why.find("; policy ");
  REQUIRE(policy != std::string::npos);
  const std::string copies = world.why.substr(0, policy);
  const json after = to_json(world.space, world.points[0]);
  const double before = world.points[1].values[1], shifted = world.points[0].values[1];
  CHECK(copies == std::string("copies the trial with ") + (maximize ? "-" : "") +
                      "0.125 at training_iteration 5, rank 1 of 2; bs shift " +
                      (shifted > before   ? "right"
                       : shifted < before ? "left"
                       : before == 0      ? "left (noop)"
                                          : "right (noop)") +
                      ": " + dump_json(after));
  CHECK(decisions[0].reason ==
        std::string(maximize ? "training_iteration 15: -0.5" : "training_iteration 15: 0.5") +
            " ranks 2 of 2, among the worst 1: " + copies);
  const json line = parse_json(world.why.substr(policy + 9)).value();
  CHECK(line[0] == "0");
  CHECK(line[1] == "1");
  CHECK(line[2] == 15);
  CHECK(line[3] == 5);
  CHECK(line[4]["lr"] == line[5]["lr"]);
  CHECK(to_json(world.space, world.points[0]) == line[5]);
  CHECK(to_json(world.space, world.points[1]) == line[4]);
}

TEST_CASE("PopulationBasedTraining: more trials than slots take turns") {
  World world({{"population_size", 3}, {"perturbation_interval", 5}});
  CHECK(world.ask() == "new 0");
  CHECK(world.ask() == "new 1");
  CHECK(world.report(0, 5, 0.1)[0].reason ==
        "training_iteration 5: 0.1 ranks 1 of 1; waiting for their turn: 1");
  CHECK(world.ask() == "new 2");
  CHECK(world.acts(1, 5, 0.01) == "checkpoint pause");
  CHECK(world.ask() == "resume 0");
  CHECK(world.why == "training_iteration 5: its turn has come; still waiting: 1");
  CHECK(world.acts(0, 10, 0.3) == "pause");  // the worst of two: copies 1
  CHECK(world.ask() == "resume 0 from 1");   // it is as far behind as 1, and was there first
  CHECK(world.acts(2, 5, 0.2) == "pause");
  CHECK(world.ask() == "resume 1");
}

TEST_CASE("PopulationBasedTraining: synchronous, all wait for the last one") {
  World world({{"population_size", 4}, {"perturbation_interval", 5}, {"synch", true}});
  for (int i = 0; i < 4; ++i) world.ask();
  CHECK(world.acts(0, 5, 0.4) == "pause");
  CHECK(world.report(1, 5, 0.3)[0].reason ==
        "training_iteration 5: 0.3 ranks 1 of 2 so far and waits for 2 more");
  CHECK(world.ask() == "not yet");
  CHECK(world.acts(2, 5, 0.1) == "pause");
  SECTION("the last one reports") {
    const auto decisions = world.report(3, 5, 0.2);
    REQUIRE(decisions.size() == 1);
    CHECK(
        decisions[0].reason ==
        "training_iteration 5: 0.2 ranks 2 of 4, the last of the round; the worst 1 become copies");
  }
  SECTION("the last one fails") { world.end(3, End::failed); }
  CHECK(world.ask() == "resume 0 from 2");
  CHECK(world.why.starts_with("copies the trial with 0.1 at training_iteration 5, rank 1 of "));
  CHECK(world.ask() == "resume 1");
  CHECK(world.ask() == "resume 2");
}

TEST_CASE("PopulationBasedTraining: it is over when all trials have ended") {
  World world({{"population_size", 2}, {"perturbation_interval", 5}, {"max_t", 8}});
  world.ask();
  world.ask();
  const auto decisions = world.report(0, 8, 0.5);
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].action == Action::stop);
  CHECK(decisions[0].complete);
  CHECK(decisions[0].reason == "training_iteration 8 of 8: ends with 0.5");
  world.end(0);
  CHECK(world.ask() == "not yet");
  world.end(1, GENERATE(End::failed, End::completed, End::stopped, End::diverged));
  CHECK(world.ask() == "exhausted");
  world.tuner->adopt(50, world.points[0]);  // of no use any more
  CHECK(world.ask() == "exhausted");
}

TEST_CASE("PopulationBasedTraining: a trial from elsewhere takes a place") {
  World world({{"population_size", 2}, {"perturbation_interval", 5}});
  world.tuner->adopt(100, {{0.5, 1}});
  world.points[100] = {{0.5, 1}};
  CHECK(world.ask() == "new 0");
  CHECK(world.ask() == "not yet");
  CHECK(world.acts(100, 5, 0.1).empty());
  CHECK(world.acts(0, 5, 0.2).empty());  // nobody to copy: 100 was alone
  CHECK(world.acts(100, 10, 0.1) == "checkpoint");
  CHECK(world.acts(0, 10, 0.2) == "pause");
  CHECK(world.ask() == "resume 0 from 100");
  world.tuner->adopt(100, {{0.5, 1}});   // known
  world.tuner->adopt(101, {{0.25, 2}});  // one more
  world.end(100);
  world.end(0);
  CHECK(world.ask() == "not yet");
}

TEST_CASE("PopulationBasedTraining: reports that cannot be used change nothing") {
  World world({{"population_size", 2}, {"perturbation_interval", 1}});
  world.ask();
  world.ask();
  const std::string before = dump_json(world.tuner->save());
  const auto silent = [&](const Report& report) { return world.tuner->on_report(report).empty(); };
  CHECK(silent({0, 0, {{"training_iteration", 5}}}));
  CHECK(silent({0, 1, {{"default", 1}, {"training_iteration", NAN}}}));
  CHECK(silent({0, 1, {{"default", 1}, {"training_iteration", -1}}}));
  CHECK(silent({77, 0, {{"default", 1}}}));
  CHECK(dump_json(world.tuner->save()) == before);
  CHECK(silent({0, 2, {{"default", 1}}}));  // the third report counts as iteration 3
  CHECK(dump_json(world.tuner->save()) != before);
}

TEST_CASE("PopulationBasedTraining: a diverged loss is the worst") {
  World world({{"population_size", 2}, {"perturbation_interval", 5}});
  world.ask();
  world.ask();
  world.acts(0, 5, NAN);
  CHECK(world.acts(1, 5, 100) == "checkpoint");
  CHECK(world.acts(0, 10, GENERATE(NAN, INFINITY, -INFINITY)) == "pause");
  CHECK(world.ask() == "resume 0 from 1");
}

TEST_CASE("PopulationBasedTraining: a point that breaks a constraint is drawn anew") {
  World world(json{{"population_size", 1}});
  CHECK(world.ask() == "new 0");
  const Point first = world.points[0];
  world.tuner->withdraw(0);
  CHECK(world.ask() == "new 1");
  CHECK_FALSE(world.points[1] == first);
  world.end(1);
  CHECK(world.ask() == "exhausted");
}

TEST_CASE("PopulationBasedTraining: the size of the population") {
  const auto size = [](const json& arguments, const Context& context) {
    World world(arguments, context);
    int count = 0;
    while (world.ask().starts_with("new")) ++count;
    return count;
  };
  CHECK(size(json::object(), {}) == 8);
  Context context;
  context.concurrency = 3;
  CHECK(size(json::object(), context) == 3);
  CHECK(size({{"population_size", 5}}, context) == 5);
  context.max_trials = 4;
  CHECK(size({{"population_size", 5}}, context) == 4);
}

TEST_CASE("PopulationBasedTraining: arguments that cannot be are named") {
  const auto error = [](const json& arguments) { return try_make(arguments).error().message; };
  const std::string factors =
      "PopulationBasedTraining.perturbation_factors: positive numbers with commas between "
      "expected, "
      "as in \"1.2,0.8\"";
  for (const char* text : {"", "1.2,", "a", "1;2", "-1", "0", "inf", "1.2 0.8"}) {
    CHECK(error({{"perturbation_factors", text}}) == factors);
  }
  CHECK(try_make({{"perturbation_factors", " 1.5 , 0.5"}}));
  CHECK(error({{"perturbation_interval", 0}}) ==
        "PopulationBasedTraining.perturbation_interval: a number above 0 expected");
  CHECK(error({{"rule", "syne_tune"}, {"synch", true}}) ==
        "PopulationBasedTraining.rule: syne_tune has no synch and no burn_in_period");
  auto made = try_make({{"mutations", "lr,momentum"}});
  const auto declined = made->tuner->set_space(parse_space(parse_json(kSpace).value()).value());
  CHECK(declined.error().message ==
        "search_space: PopulationBasedTraining needs the parameter \"momentum\", which "
        "\"mutations\" names");
}

TEST_CASE("PopulationBasedTraining: as Syne Tune, a loser is stopped and a new trial copies") {
  World world({{"rule", "syne_tune"},
               {"perturbation_interval", 5},
               {"max_t", 20},
               {"resample_probability", 0}});
  for (int i = 0; i < 3; ++i) CHECK(world.ask() == "new " + std::to_string(i));
  CHECK(world.acts(0, 5, 0.1).empty());
  CHECK(world.acts(1, 5, 0.3) == "stop");
  CHECK(world.acts(1, 6, 0.3).empty());
  const auto stopped = world.report(2, 5, 0.2);
  world.restore();
  CHECK(world.ask() == "new 3 from 0");
  CHECK(world.why.starts_with(
      "copies the trial with 0.1 at training_iteration 5, rank 1 of 2; lr * "));
  CHECK(world.why.ends_with(": " + dump_json(to_json(world.space, world.points[3]))));
  REQUIRE(stopped.size() == 1);
  CHECK(stopped[0].action == Action::stop);
  CHECK(stopped[0].reason ==
        "training_iteration 5: 0.2 ranks 2 of 2, among the worst 1; the trial in its place " +
            world.why);
  CHECK(world.ask() == "new 4 from 0");
  CHECK(world.ask() == "new 5");
  world.end(1, End::stopped);
  // A copy counts from its first report on.
  CHECK(world.acts(3, 6, 0.9).empty());
  CHECK(world.acts(3, 10, 0.9).empty());
  CHECK(world.acts(3, 11, 0.9) == "stop");
  const auto decisions = world.report(0, 20, 0.1);
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].complete);
  CHECK(world.ask() == "new 6 from 0");
}

// A synthetic training: the loss falls by an amount that depends on lr.
TEST_CASE("PopulationBasedTraining: saved and loaded at any moment, the rest is the same") {
  const json arguments = GENERATE(
      values<json>({{{"population_size", 6}, {"perturbation_interval", 3}},
                    {{"population_size", 6}, {"perturbation_interval", 3}, {"synch", true}},
                    {{"rule", "syne_tune"}, {"perturbation_interval", 3}, {"max_t", 30}}}));
  const auto run = [&](bool restores) {
    World world(arguments);
    std::vector<std::string> log;
    struct State {
      double loss = 1, time = 0;
    };
    std::map<TrialId, State> trained;
    std::vector<TrialId> running;
    Rng rng(4);
    for (int event = 0; event < 400; ++event) {
      while (running.size() < 4) {
        const std::string answer = world.ask();
        log.push_back(answer);
        if (answer == "not yet" || answer == "exhausted") break;
        const TrialId trial = std::stoi(answer.substr(answer.find(' ') + 1));
        if (const auto from = answer.find("from "); from != answer.npos) {
          trained[trial] = trained[std::stoi(answer.substr(from + 5))];
        }
        log.push_back(dump_json(to_json(world.space, world.points[trial])));
        running.push_back(trial);
      }
      if (running.empty()) break;
      const std::size_t at = rng.index(running.size());
      const TrialId trial = running[at];
      State& state = trained[trial];
      state.time += 1;
      state.loss -= world.points[trial].values[0] * 0.01;
      if (rng.index(100) == 0) {
        world.end(trial, End::failed);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      bool leaves = false;
      for (const Decision& decision : world.report(trial, state.time, state.loss)) {
        log.push_back(decision.reason);
        leaves = leaves || decision.action != Action::checkpoint;
        if (decision.action == Action::stop) world.end(trial, End::stopped);
      }
      if (leaves) running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
      if (restores) world.restore();
    }
    return log;
  };
  const auto log = run(false);
  CHECK(std::ranges::count_if(
            log, [](const auto& line) { return line.find(" from ") != line.npos; }) > 10);
  CHECK(run(true) == log);
}

TEST_CASE("PopulationBasedTraining: impossible states are refused") {
  const bool syne = GENERATE(false, true);
  World world(
      {{"population_size", 3}, {"perturbation_interval", 1}, {"rule", syne ? "syne_tune" : "ray"}});
  for (int i = 0; i < 3; ++i) world.ask();
  for (int i = 0; i < 3; ++i) world.report(i, 1, i);
  const json good = world.tuner->save();
  const auto refused = [&](auto&& damage) {
    json state = good;
    damage(state);
    CAPTURE(dump_json(state));
    CHECK_FALSE(world.tuner->load(state));
    CHECK(dump_json(world.tuner->save()) == dump_json(good));
  };
  if (syne) {
    refused([](json& s) { s["trials"] = s["from"]; });
    refused([](json& s) { s["points"] = s["copies"]; });
    refused([](json& s) { s["why"] = json::array(); });
    refused([](json& s) { s["why"][0] = 1; });
  } else {
    refused([](json& s) { s["members"][0]["trial"] = json::array(); });
    refused([](json& s) { s["members"][0]["trial"] = {1}; });  // twice
    refused([](json& s) { s["members"][0]["trial"] = {0, 1}; });
    refused([](json& s) { s["members"][0]["point"] = ""; });
    refused([](json& s) { s["members"][0]["policy"] = {1}; });
    refused([](json& s) { s["members"][0]["from"] = {"x"}; });
    refused([](json& s) { s["members"][0]["copies"] = 1; });
    refused([](json& s) { s["members"].erase(2); });
    refused([](json& s) { s["members"].push_back(s["members"][0]); });
  }
  CHECK(world.tuner->load(good));
}

}  // namespace attune::population_based_training_test
