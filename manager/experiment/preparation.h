#pragma once
// What happens between reading an experiment file and the first trial: settling seed and direction,
// checking with the daemon, claiming the folder.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/experiment/experiment.h"
#include "space/space.h"

namespace attune {

// Chooses the seed, puts it into classArgs of the tuner, and returns it: `given` (command line),
// else that of the file, else the one in classArgs, else `drawn`. A tuner named by className does
// not get `drawn`: it may not accept a seed. Returns 0 then, and if the seed is no whole number.
std::uint64_t settle_seed(std::optional<std::uint64_t> given, std::uint64_t drawn,
                          Experiment& experiment);

struct Direction {
  Objective objective;
  std::string warning;  // tuner and assessor have different directions; empty: they have not
};

// The first objective: that of the file, else "default" in the direction of the tuner. If the file
// does not give the direction, asks the daemon for the default of the tuner, and blocks meanwhile.
// Error: the daemon cannot be asked, or the direction of a className is unknown.
Result<Direction> settle_direction(const Experiment& experiment,
                                   const std::filesystem::path& daemon,
                                   const std::vector<std::string>& environment);

// Asks the daemon whether it accepts tuner, assessor and search space. The error lists everything
// that must be changed, each with its place in the experiment file. Blocks meanwhile. If the file
// does not say `decisions`, they are in step with the reports when the tuner judges these. If the
// tuner cannot learn from earlier experiments, `learn_from` is cleared, with a warning.
Result<void> check_with_daemon(Experiment& experiment, const std::filesystem::path& daemon,
                               const std::vector<std::string>& environment);

// Checks that parameters given by the user lie in the search space and meet the constraints.
Result<void> check_point(const Space& space, const json& parameters);

// Makes the folder of a new experiment. Error: it holds the trials of another one.
Result<void> claim_directory(const std::filesystem::path& directory);

}  // namespace attune
