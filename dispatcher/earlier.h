#pragma once
// What earlier experiments found, as the manager sends it with Initialize (docs/protocol.md,
// "Earlier experiments").
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "os/log.h"
#include "space/space.h"
#include "tuners/tuner.h"

namespace attune {

struct EarlierExperiment {
  struct Trial {
    json parameters;  // an object
    double loss = 0;  // finite; to be minimised
  };
  std::string name;
  std::vector<Trial> trials;
};

// [{"name": text, "trials": [{"parameters": {...}, "loss": number}, ...]}, ...]. Null: none. Errors
// name the place: "earlier[0].trials[3].loss: ..."; too many are one (protocol/earlier_limits.h).
Result<std::vector<EarlierExperiment>> read_earlier(const json& earlier);

// The trials as points of `space`. Parameters are the same if their names at the top of the space
// are. What the space does not have is left out, and what a trial does not have is a gap. A trial
// with a value that the space excludes is left out, and so is an experiment without any parameter
// of the space, or without a trial that is left; `log` gets a warning of each such experiment.
std::vector<EarlierTask> tasks_in(const Space& space, std::span<const EarlierExperiment> earlier,
                                  const Log& log);

}  // namespace attune
