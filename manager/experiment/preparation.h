#pragma once
// What is settled between reading an experiment file and the first trial.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/experiment/experiment.h"
#include "space/space.h"

namespace attune {

// Puts the seed where the tuner finds it, and returns it: `given` (command line), else the file's,
// else the one in classArgs, else `drawn`. A class of the user's own is not given one that nobody
// asked for: it may not take it.
std::uint64_t settle_seed(std::optional<std::uint64_t> given, std::uint64_t drawn,
                          Experiment& experiment);

struct Direction {
  Objective objective;
  std::string warning;  // tuner and assessor pull in different directions
};

// What is searched for, and whether higher is better: the first objective, else "default" in the
// direction of the tuner. A default is the daemon's knowledge, so it is asked when the file does
// not say. Blocks meanwhile.
Result<Direction> settle_direction(const Experiment& experiment,
                                   const std::filesystem::path& daemon,
                                   const std::vector<std::string>& environment);

// Whether the daemon takes tuner, assessor and search space as they are. The error has all that is
// to be changed, each with its place in the experiment file. Blocks meanwhile.
Result<void> check_with_daemon(const Experiment& experiment, const std::filesystem::path& daemon,
                               const std::vector<std::string>& environment);

// Whether a trial of the user's own lies in the search space and meets the constraints.
Result<void> check_point(const Space& space, const json& parameters);

// Makes the folder of a new experiment. Fails when it holds the trials of another one.
Result<void> claim_directory(const std::filesystem::path& directory);

}  // namespace attune
