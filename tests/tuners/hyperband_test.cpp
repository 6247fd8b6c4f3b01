#include <deque>

#include "tests/tuners/bracket_world.h"
#include "tests/tuners/recording.h"

namespace attune {
extern const TunerEntry hyperband_entry;
}

namespace attune::hyperband_test {

using Words = std::vector<std::string>;

BracketWorld world(json arguments, const std::string& space = {}) {
  arguments["time_attr"] = "epoch";
  arguments["optimize_mode"] = "minimize";
  if (space.empty()) return {hyperband_entry, arguments};
  return {hyperband_entry, arguments, space};
}

// NNI's name of a trial: "0-2_1_5" is configuration 5 in round 1 of the bracket 2 of the first
// cycle.
struct NniName {
  std::string bracket, configuration;
  int round = 0;
};
NniName parse_name(const std::string& text) {
  const auto first = text.find('_'), last = text.rfind('_');
  return {text.substr(0, first), text.substr(last + 1),
          std::stoi(text.substr(first + 1, last - first - 1))};
}

// Sends to the tuner what NNI's manager sent to the advisor, and compares what it proposes: how
// many configurations, in which order, with which budgets, and which of them go on. The
// configurations themselves are random: the n-th of NNI is the n-th of ours. Returns the number of
// comparisons.
int replay_advisor(const std::string& name) {
  std::unique_ptr<BracketWorld> world;
  TrialId next = 0;
  std::deque<TrialId> waiting;                        // asks without an answer
  std::deque<std::pair<TrialId, Proposal>> proposed;  // answers that NNI has not given yet
  std::map<std::string, TrialId> ours;                // by NNI's name
  std::map<std::string, TrialId> configurations;      // whose first trial
  std::map<TrialId, Point> points;
  std::map<std::string, double> finals;
  int compared = 0;
  const auto ask = [&] {
    for (std::size_t left = waiting.size(); left > 0; --left) {
      const TrialId id = waiting.front();
      waiting.pop_front();
      const Answer answer = world->tuner->ask(std::vector{id})[0];
      if (const auto* proposal = std::get_if<Proposal>(&answer)) {
        proposed.emplace_back(id, *proposal);
      } else {
        REQUIRE(std::holds_alternative<NotYet>(answer));
        waiting.push_back(id);
      }
    }
  };
  for (const json& line : read_recording(name)) {
    const std::string code = text_at(line, "code");
    const json& data = line.contains("data") ? line["data"] : line;
    CAPTURE(dump_json(line));
    if (text_at(line, "event") == "spawn") {
      json arguments = line["exp_params"]["advisor"]["classArgs"];
      world = std::make_unique<BracketWorld>(hyperband_entry, arguments);
    } else if (code == "GE") {
      for (int i = 0; i < data.get<int>(); ++i) waiting.push_back(next++);
      ask();
    } else if (code == "TR") {
      const NniName nni = parse_name(data["parameter_id"]);
      REQUIRE_FALSE(proposed.empty());
      const auto [id, proposal] = proposed.front();
      proposed.pop_front();
      REQUIRE(proposal.budget == data["parameters"]["TRIAL_BUDGET"].get<double>());
      REQUIRE_FALSE(proposal.resume);
      REQUIRE(proposal.checkpoint_from.has_value() == (nni.round > 0));
      const std::string key = nni.bracket + " " + nni.configuration;
      if (nni.round == 0) {
        REQUIRE(configurations.emplace(key, id).second);
      } else {
        REQUIRE(proposal.point == points.at(configurations.at(key)));
        const std::string before =
            nni.bracket + "_" + std::to_string(nni.round - 1) + "_" + nni.configuration;
        REQUIRE(proposal.checkpoint_from == ours.at(before));
      }
      points[id] = proposal.point;
      ours[data["parameter_id"]] = id;
      ++compared;
    } else if (code == "ME") {
      const auto trial = ours.find(data["parameter_id"]);
      if (trial == ours.end()) continue;  // an unknown trial; NNI stops with an error
      const double value = parse_json(data["value"].get<std::string>()).value();
      if (data["type"] == "FINAL") {
        finals.emplace(trial->first, value);  // the first one counts
      } else {
        world->tuner->on_report({trial->second, data["sequence"], {{"default", value}}});
      }
    } else if (code == "EN") {
      const json parameters = parse_json(data["hyper_params"].get<std::string>()).value();
      const std::string id = parameters["parameter_id"];
      Outcome outcome{.trial = ours.at(id), .point = points.at(ours.at(id)), .end = End::failed};
      if (data["event"] == "SUCCEEDED") {
        outcome.end = End::completed;
        // The loss: the recordings maximise.
        if (finals.contains(id)) outcome.loss = -finals.at(id);
      }
      world->tuner->tell(std::vector{outcome});
      ask();
    }
  }
  // What NNI would still have answered if it had not stopped with an error.
  CAPTURE(proposed.size());
  CHECK(compared > 0);
  return compared;
}

TEST_CASE("Hyperband proposes what NNI's advisor proposed in its recordings") {
  CHECK(replay_advisor("hyperband_R9_parallelism") >= 40);
  CHECK(replay_advisor("hyperband_double_final_and_unknown") == 1);
}

// All three trials of the first bracket fail. NNI stops with "list index out of range" when the
// round is over; here the bracket is over, and the others go on.
TEST_CASE("Hyperband: failed trials, until NNI stops with an error") {
  CHECK(replay_advisor("hyperband_failed_trials") == 6);
}

TEST_CASE("Hyperband: the rounds of R 9 and eta 3, with the values of final results") {
  BracketWorld w = world({{"R", 9}, {"exec_mode", "serial"}});
  for (int i = 0; i < 9; ++i) CHECK(w.asked() == "new 1");
  CHECK(w.asked() == "not yet");
  for (TrialId i = 0; i < 9; ++i) {
    w.report(i, 0, 100);  // not the value: a final result follows
    w.end(i, End::completed, 10.0 - double(i));
  }
  CHECK(w.asked() == "from 8 3");
  CHECK(w.asked() == "from 7 3");
  CHECK(w.asked() == "from 6 3");
  CHECK(w.asked() == "not yet");
  w.end(10, End::completed, 1.0);
  w.end(11, End::completed, 2.0);
  w.end(12, End::completed, 0.5);
  CHECK(w.asked() == "from 12 9");
  // The bracket has started its last round.
  for (int i = 0; i < 5; ++i) CHECK(w.asked() == "new 3");
  CHECK(w.asked() == "not yet");
  for (TrialId i = 15; i < 20; ++i) w.end(i, End::completed, double(i));
  CHECK(w.asked() == "from 15 9");
  for (int i = 0; i < 3; ++i) CHECK(w.asked() == "new 9");
  for (int i = 0; i < 9; ++i) CHECK(w.asked() == "new 1");  // the brackets begin again
}

TEST_CASE("Hyperband: with parallelism nobody waits, and promotions come before new brackets") {
  BracketWorld w = world({{"R", 3}});
  for (int i = 0; i < 3; ++i) CHECK(w.asked() == "new 1");
  CHECK(w.asked() == "new 3");
  for (TrialId i = 0; i < 3; ++i) w.end(i, End::completed, double(i));
  CHECK(w.asked() == "new 3");  // that bracket was ready before
  CHECK(w.asked() == "from 0 3");
  CHECK(w.asked() == "new 1");
}

TEST_CASE("Hyperband: without a final result the last report counts, by its step") {
  const End end = GENERATE(End::completed, End::stopped);
  BracketWorld w = world({{"R", 3}, {"exec_mode", "serial"}});
  for (int i = 0; i < 3; ++i) w.asked();
  w.tuner->on_report({0, 0, {{"default", 1}, {"epoch", 0}}});
  w.tuner->on_report({0, 1, {{"default", 5}, {"epoch", 0}}});
  w.tuner->on_report({0, 0, {{"default", 0}, {"epoch", 0}}});  // again
  w.tuner->on_report({1, 0, {{"default", 4}, {"epoch", 0}}});
  w.tuner->on_report({2, 0, {{"default", 0}, {"epoch", 0}}});
  w.tuner->on_report({2, 1, {{"default", NAN}, {"epoch", 0}}});
  for (TrialId i = 0; i < 3; ++i) w.end(i, end);
  CHECK(w.asked() == "from 1 3");
}

TEST_CASE("Hyperband: failed trials do not go on, whatever they have reported") {
  const End end = GENERATE(End::failed, End::diverged);
  BracketWorld w = world({{"R", 3}, {"exec_mode", "serial"}});
  for (int i = 0; i < 3; ++i) w.asked();
  w.report(0, 0, -5);
  w.end(0, end);
  SECTION("one is left") {
    w.end(1, end);
    w.end(2, End::completed, 7.0);
    CHECK(w.asked() == "from 2 3");
  }
  SECTION("none is left") {
    w.end(1, end);
    w.end(2, End::completed);  // without a result
    CHECK(w.asked() == "new 3");
  }
}

TEST_CASE("Hyperband: of equal values the one that came first goes on first") {
  BracketWorld w = world({{"R", 3}, {"exec_mode", "serial"}});
  for (int i = 0; i < 3; ++i) w.asked();
  w.report(2, 0, 9);
  w.end(0, End::completed, 1.0);
  w.end(1, End::completed, 1.0);
  w.end(2, End::completed, 1.0);
  CHECK(w.asked() == "from 2 3");
}

TEST_CASE("Hyperband: a trial that goes on says where it stood in its round") {
  const bool maximize = GENERATE(false, true);
  const double sign = maximize ? -1 : 1;
  BracketWorld w(hyperband_entry, {{"R", 9},
                                   {"exec_mode", "serial"},
                                   {"time_attr", "epoch"},
                                   {"optimize_mode", maximize ? "maximize" : "minimize"}});
  for (int i = 0; i < 9; ++i) w.asked();
  for (TrialId i = 0; i < 7; ++i) w.end(i, End::completed, sign * (8.5 - double(i)));
  w.end(7, End::failed);
  w.report(8, 0.5, 2.25);  // the user's number; its end has none
  w.restart();
  w.end(8, End::completed);
  w.restart();
  const std::string cut = maximize ? "6.5" : "3.5";
  CHECK(w.asked() == (maximize ? "from 0 3" : "from 8 3"));
  CHECK(w.why == std::string(maximize ? "budget 1: 8.5" : "budget 1: 2.25") +
                     " ranks 1 of 8; the best 3 go on, cutoff " + cut + ": goes on to 3");
  CHECK(w.asked() == (maximize ? "from 1 3" : "from 6 3"));
  CHECK(w.why == std::string(maximize ? "budget 1: 7.5" : "budget 1: 2.5") +
                     " ranks 2 of 8; the best 3 go on, cutoff " + cut + ": goes on to 3");
}

TEST_CASE("Hyperband stops a trial that has used its budget, and drops what nobody needs") {
  BracketWorld w = world({{"R", 3}, {"exec_mode", "serial"}});
  for (int i = 0; i < 3; ++i) w.asked();
  CHECK(w.reported(0, 0.5, 1).empty());
  const auto decisions = w.report(0, 1, 1);
  REQUIRE(decisions.size() == 2);
  CHECK(BracketWorld::shorten(decisions[0]) == "save 0");
  CHECK(BracketWorld::shorten(decisions[1]) == "complete 0");
  CHECK(decisions[1].reason == "epoch 1 of 1: ends with 1");
  w.end(0, End::stopped);
  w.end(1, End::completed, 0.5);
  w.end(2, End::failed);
  CHECK(w.asked() == "from 1 3");
  CHECK(w.reported(3, 1, 1) == Words{"drop 2", "drop 0"});
  CHECK(w.reported(3, 3, 1) == Words{"complete 3"});  // nobody starts from the last round
  w.end(3, End::completed, 0.25);
  CHECK(w.asked() == "new 3");
  CHECK(w.reported(4, 0, 1) == Words{"drop 1", "drop 3"});
}

TEST_CASE("Hyperband: a manager that cannot pause lets a trial end by itself") {
  BracketWorld w(hyperband_entry, {{"R", 3}, {"time_attr", "epoch"}},
                 R"({"x": {"_type": "uniform", "_value": [0, 1]}})", false);
  CHECK(w.asked() == "new 1");
  for (int epoch = 1; epoch < 5; ++epoch) CHECK(w.reported(0, epoch, 1).empty());
}

TEST_CASE("Hyperband: a finite space shrinks the rounds, and then it ends") {
  BracketWorld w = world({{"R", 9}}, R"({"x": {"_type": "choice", "_value": [1, 2, 3, 4]}})");
  for (int i = 0; i < 4; ++i) CHECK(w.asked() == "new 1");
  CHECK(w.asked() == "not yet");
  for (TrialId i = 0; i < 4; ++i) w.end(i, End::completed, double(i));
  for (int i = 0; i < 3; ++i) CHECK(w.asked() == "from " + std::to_string(i) + " 3");
  CHECK(w.asked() == "not yet");
  for (TrialId i = 5; i < 8; ++i) w.end(i, End::completed, double(i));
  CHECK(w.asked() == "from 5 9");
  CHECK(w.asked() == "not yet");
  w.end(9, End::failed);
  CHECK(w.asked() == "exhausted");
}

TEST_CASE("Hyperband: a proposal that is withdrawn is made again") {
  BracketWorld w = world({{"R", 3}, {"exec_mode", "serial"}});
  for (int i = 0; i < 3; ++i) w.asked();
  w.tuner->withdraw(1);
  CHECK(w.asked() == "new 1");
  CHECK(w.asked() == "not yet");
  for (const TrialId i : {0, 2, 3}) w.end(i, End::completed, double(i));
  CHECK(w.asked() == "from 0 3");
}

TEST_CASE("Hyperband: saved and loaded at any moment, the rest is the same") {
  const bool restarts = GENERATE(false, true);
  static Words expected;
  BracketWorld w = world({{"R", 9}, {"searcher", "Random"}});
  Words words;
  Rng rng(3);
  std::vector<TrialId> running;
  for (int turn = 0; turn < 200; ++turn) {
    const Answer answer = w.ask();
    words.push_back(w.shorten(answer));
    words.push_back(dump_json(json(std::get<Proposal>(answer).point.values)));
    running.push_back(w.next - 1);
    if (running.size() < 6) continue;
    const std::size_t i = rng.index(running.size());
    for (const std::string& word : w.reported(running[i], 0, rng.normal())) words.push_back(word);
    const double kind = rng.uniform();
    if (kind < 0.1) {
      w.end(running[i], End::failed);
    } else if (kind < 0.4) {
      w.end(running[i], End::stopped);
    } else {
      w.end(running[i], End::completed, std::round(10 * rng.normal()));
    }
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    if (restarts && turn % 7 == 0) w.restart();
  }
  if (!restarts) expected = words;
  CHECK(words == expected);
}

TEST_CASE("Hyperband: damaged states are errors and change nothing") {
  BracketWorld w = world({{"R", 9}});
  for (int i = 0; i < 12; ++i) w.asked();
  for (TrialId i = 0; i < 9; ++i) {
    w.report(i, 0, double(i));
    w.end(i, i % 2 == 0 ? End::completed : End::failed,
          i % 2 == 0 ? std::optional(double(i)) : std::nullopt);
  }
  w.report(9, 0, 1);
  w.end(10, End::completed, 1.0);
  for (int i = 0; i < 3; ++i) w.asked();
  check_damaged_states(w);
}

}  // namespace attune::hyperband_test
