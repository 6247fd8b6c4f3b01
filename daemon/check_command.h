#pragma once
// attuned --check: whether a tuner, an assessor and a search space can be used together, before
// anybody makes files for an experiment.
#include <cstdio>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "daemon/configuration.h"
#include "daemon/crew.h"

namespace attune {

// Why an experiment cannot begin.
struct Refusal {
  // The key of the experiment parameters that is to be changed: "" (they as a whole), tuner.name,
  // tuner.classArgs, assessor.name, assessor.classArgs, or searchSpace.
  std::string about;
  std::string message;
};

// As the daemon does when it is initialised with `search_space`, but for files and threads.
// Nothing: the experiment can begin. `read`: whether the parameters could be read.
std::optional<Refusal> check_experiment(const Configuration& configuration,
                                        const Result<void>& read, const Algorithms& algorithms,
                                        const json& search_space);

// Reads the search space from `in` to its end. Prints {"fine": true} or {"fine": false, "about",
// "error"}. The exit code: 0 or 2.
int run_check_command(const Configuration& configuration, const Result<void>& read,
                      const Algorithms& algorithms, std::FILE* in, std::FILE* out);

}  // namespace attune
