#pragma once
// What the user says about a simulation: the section `simulation` of an experiment file. Its keys
// are in docs/simulate.md.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "backends/simulated/generated_curves.h"
#include "backends/simulated/simulated_backend.h"
#include "base/arguments.h"

namespace attune {

struct SimulationSettings {
  SimulatedBackendOptions backend;   // without the capacity, which is no matter of the section
  GeneratedCurvesOptions generated;  // used when there is no file of curves
  std::filesystem::path curves;      // recorded ones; empty: none
  std::string metric;                // its key in there; empty: the only one
};

// What the rest of the experiment file says.
struct SimulatedExperiment {
  json search_space;
  std::string objective = "default";  // the metric that trials report
  bool maximize = false;
  std::uint64_t seed = 0;           // used where the section has none of its own
  std::filesystem::path directory;  // that paths are relative to
};

// `section` checked, with defaults; null counts as {}. Errors name the key and what is accepted.
Result<SimulationSettings> read_simulation(const json& section,
                                           const SimulatedExperiment& experiment);

// All that is wrong with the section, which no other part of an experiment can mend.
std::vector<ArgumentFlaw> simulation_flaws(const json& section);

// Reads the file of curves, if any.
Result<std::unique_ptr<CurveSource>> make_curves(const SimulationSettings& settings);

}  // namespace attune
