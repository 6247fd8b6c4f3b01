#pragma once
// attuned --check: whether a tuner, an assessor and a search space can be used together, before
// anybody makes files for an experiment.
#include <cstdio>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "daemon/configuration.h"
#include "daemon/crew.h"

namespace attune {

// What is to be changed before an experiment can begin.
struct Refusal {
  enum class Part { experiment, tuner, assessor, search_space };

  Part part = Part::experiment;   // experiment: the parameters cannot be read
  std::vector<std::string> path;  // below the part: "name"; "classArgs", "tpe_args", "gamma"
  std::string message;
};

// Makes tuner and assessor, and gives the tuner `search_space`, as the daemon does, but without
// files and threads. Empty: the experiment can begin. `read`: whether the parameters could be read.
std::vector<Refusal> check_experiment(const Configuration& configuration, const Result<void>& read,
                                      const Algorithms& algorithms, const json& search_space);

// Reads the search space from `in` to its end. Prints {"format": 1, "fine": true,
// "judges_reports": false, "learns_from_earlier": true, "refusals": []}, where a refusal is
// {"part", "path", "message"}. judges_reports, learns_from_earlier: whether the tuner does. The
// exit code: 0 or 2.
int run_check_command(const Configuration& configuration, const Result<void>& read,
                      const Algorithms& algorithms, std::FILE* in, std::FILE* out);

}  // namespace attune
