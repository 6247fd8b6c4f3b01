#pragma once
// One experiment that any backend can run, and the simulator too: what trials report is a function
// of their configuration, and one runs at a time.
#include <fmt/format.h>

#include "base/json.h"
#include "tests/manager/app/program_folder.h"

namespace attune {

inline constexpr int kSameTrials = 8;

// `more`: the backend. Reads curves.json in the simulator.
inline void write_same_experiment(const ProgramFolder& folder, const std::string& more) {
  std::ofstream curves(folder.path / "curves.json");
  for (int x = 0; x < 8; ++x) {
    for (int y = 0; y < 8; ++y)
      curves << fmt::format("{{\"value\": [{}], \"parameters\": {{\"x\": {}, \"y\": {}}}}}\n",
                            (x - 3) * (x - 3) + (y - 5) * (y - 5), x, y);
  }
  std::ofstream(folder.path / "e.yaml")
      << "searchSpace:\n"
         "  x: {_type: choice, _value: [0, 1, 2, 3, 4, 5, 6, 7]}\n"
         "  y: {_type: choice, _value: [0, 1, 2, 3, 4, 5, 6, 7]}\n"
         "tuner: {name: TPE, classArgs: {optimize_mode: minimize, tpe_args: {n_startup_jobs: 3}}}\n"
         "trialCommand: x={x}; y={y}; echo value=$(((x - 3) * (x - 3) + (y - 5) * (y - 5)))\n"
         "report: {regex: 'value=(?<default>\\S+)'}\n"
         "trialConcurrency: 1\n"
      << fmt::format("maxTrialNumber: {}\n", kSameTrials)
      << "seed: 7\nsimulation: {curves: curves.json, plainMetrics: true}\n"
      << more;
}

// Configuration and result of each trial, in their order.
inline std::vector<std::string> sequence_of(const ProgramFolder& folder, const std::string& dir) {
  StoreReader reader = StoreReader::open(folder.path / dir).value();
  const StoredExperiment experiment = reader.find("").value();
  std::vector<std::string> all;
  const std::vector<TrialRecord> trials = reader.trials(experiment, {}).value();
  for (const TrialRecord& trial : trials)
    all.push_back(
        fmt::format("{} {}", dump_json(trial.proposed.parameters), trial.score("default").value()));
  return all;
}

}  // namespace attune
