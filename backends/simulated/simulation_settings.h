#pragma once
// The user's settings of a simulation: the section `simulation` of an experiment file.
// docs/simulate.md lists its keys.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "backends/simulated/generated_curves.h"
#include "backends/simulated/simulated_backend.h"
#include "base/arguments.h"

namespace attune {

struct SimulationSettings {
  SimulatedBackendOptions backend;   // without the capacity, which is not in this section
  GeneratedCurvesOptions generated;  // used when there is no file of curves
  std::filesystem::path curves;      // the file of recorded ones; empty: none
  std::string metric;                // its key in that file; empty: the only one
};

// Values from the rest of the experiment file.
struct SimulatedExperiment {
  json search_space;
  std::string objective = "default";  // the metric that trials report
  bool maximize = false;
  std::uint64_t seed = 0;           // used if the section has no seed
  std::filesystem::path directory;  // that paths are relative to
};

// Checks `section` and fills in defaults; null counts as {}. Errors name the key and what is
// accepted.
Result<SimulationSettings> read_simulation(const json& section,
                                           const SimulatedExperiment& experiment);

// All that is wrong with the section itself, whatever the rest of the experiment file says.
std::vector<ArgumentFlaw> simulation_flaws(const json& section);

// Reads the file of curves, or generates them if there is none.
Result<std::unique_ptr<CurveSource>> make_curves(const SimulationSettings& settings);

}  // namespace attune
