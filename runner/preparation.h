#pragma once
// What is settled between reading an experiment file and the first trial.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runner/experiment.h"
#include "runner/reporter.h"

namespace attune {

// Puts the seed where the tuner finds it, and returns it: `given` (command line), else the file's,
// else the one in classArgs, else `drawn`. A class of the user's own is not given one that nobody
// asked for: it may not take it.
std::uint64_t settle_seed(std::optional<std::uint64_t> given, std::uint64_t drawn,
                          Experiment& experiment);

struct Direction {
  bool maximize = false;
  std::string warning;  // tuner and assessor pull in different directions
};

// Whether higher is better. A default is the daemon's knowledge, so it is asked when the file does
// not say. Blocks meanwhile.
Result<Direction> settle_direction(const Experiment& experiment,
                                   const std::filesystem::path& daemon,
                                   const std::vector<std::string>& environment);

// Makes the experiment's folder and opens results.jsonl in it. Fails when it holds another run.
Result<ResultsFile> claim_directory(const std::filesystem::path& directory);

// experiment.json: what was run, with all defaults filled in.
Result<void> write_experiment(const Experiment& experiment, const RunFacts& facts);

}  // namespace attune
