// Why a trial was paused, goes on or is stopped: attune show says so after a simulated experiment
// with the real tuner in the real attuned.
#include "tests/manager/app/program_folder.h"

namespace attune::program_reasons_test {

using Lines = std::vector<std::string>;

constexpr const char* kSpace = "searchSpace: {x: {_type: uniform, _value: [0, 1]}}\n";

// A simulation of recorded accuracies: row i is trial i.
ProgramFolder simulated(const std::string& experiment, const std::string& rows) {
  ProgramFolder folder;
  std::ofstream(folder.path / "curves.json") << rows;
  std::ofstream(folder.path / "e.yaml") << kSpace << experiment;
  const Run run =
      folder.run({"simulate", "e.yaml", "--curves", "curves.json", "--dir", "exp", "--quiet"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  return folder;
}

// "pause: why" for each decision that attune show lists of the trial, which says the same in text.
Lines shown(const ProgramFolder& folder, const std::string& trial) {
  const std::string text = folder.run({"show", trial, "--dir", "exp"}).out;
  const json object = parse_json(folder.run({"show", trial, "--dir", "exp", "--json"}).out).value();
  Lines all;
  for (const json& decision : object.at("decision_list")) {
    const std::string reason = decision.at("reason");
    CHECK(decision.at("by") == "decider");
    CAPTURE(reason, text);
    CHECK(text.find(reason) != std::string::npos);
    all.push_back(decision.at("action").get<std::string>() + ": " + reason);
  }
  return all;
}

TEST_CASE("attune show: each decision of ASHA on a trial says why") {
  const ProgramFolder folder = simulated(
      "maxTrialNumber: 3\ntrialConcurrency: 1\ndecisions: in-step\n"
      "tuner: {name: ASHA, classArgs: {max_t: 3, grace_period: 1, reduction_factor: 2,\n"
      "                                optimize_mode: maximize}}\n",
      R"([{"acc": [0.5, 0.55, 0.6]}, {"acc": [0.75, 0.8, 0.875]}, {"acc": [0.25, 0.3, 0.35]}])");
  CHECK(shown(folder, "t0000") ==
        Lines{"pause: rung 1: 0.5 is the first there and waits for others",
              "resume: rung 1: 0.5 ranks 2 of 3, the best that waits: goes on to 2",
              "pause: rung 2: 0.55 ranks 2 of 2 and waits; needs 0.633333"});
  CHECK(shown(folder, "t0001") ==
        Lines{"pause: rung 1: 0.75 ranks 1 of 2 and may go on to 2",
              "resume: rung 1: 0.75 ranks 1 of 2, the best that waits: goes on to 2",
              "pause: rung 2: 0.8 is the first there and waits for others",
              "resume: rung 2: 0.8 ranks 1 of 2, the best that waits: goes on to 3",
              "stop: training_iteration has reached 3"});
  CHECK(shown(folder, "t0002") == Lines{"pause: rung 1: 0.25 ranks 3 of 3 and waits; needs 0.5"});
}

TEST_CASE("attune show: a trial of a population says whose state it has copied, and what changed") {
  const ProgramFolder folder = simulated(
      "maxTrialNumber: 2\ntrialConcurrency: 2\ndecisions: in-step\nseed: 1\n"
      "tuner: {name: PopulationBasedTraining, classArgs: {population_size: 2, max_t: 3,\n"
      "        perturbation_interval: 1, resample_probability: 0, optimize_mode: maximize}}\n",
      R"([{"acc": [0.5, 0.55, 0.6]}, {"acc": [0.7, 0.75, 0.8]}])");
  const Lines loser = shown(folder, "t0000");
  REQUIRE(loser.size() == 3);
  const std::string lost = "pause: training_iteration 2: 0.55 ranks 2 of 2, among the worst 1: ";
  REQUIRE(loser[0].starts_with(lost));
  const std::string copies = loser[0].substr(lost.size());
  CHECK(copies.starts_with("copies the trial with 0.7 at training_iteration 1, rank 1 of 2; x * "));
  CHECK(loser[1].starts_with("resume: " + copies + "; policy [\"0\",\"1\",2,1,{"));
  CHECK(loser[2] == "stop: training_iteration 3 of 3: ends with 0.6");
  CHECK(shown(folder, "t0001") ==
        Lines{"checkpoint: ",
              "pause: training_iteration 2: 0.75 ranks 1 of 2; waiting for their turn: 1",
              "checkpoint: ", "resume: training_iteration 2: its turn has come; still waiting: 0",
              "stop: training_iteration 3 of 3: ends with 0.8"});
}

}  // namespace attune::program_reasons_test
