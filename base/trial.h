#pragma once
// The vocabulary that several rooms share.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attune {

// The daemon's own number for one proposed configuration; not the manager's parameter_id. Negative
// numbers are trials that were not proposed here.
using TrialId = std::int64_t;
inline constexpr TrialId kImportedTrial = -1;  // every imported outcome carries this id

// As reported, in order, never negated; the first objective first ("default" unless the experiment
// names it).
using Metrics = std::vector<std::pair<std::string, double>>;

// One intermediate result. step counts from 0; resource, time and cost are metrics.
struct Report {
  TrialId trial = 0;
  std::int64_t step = 0;
  Metrics metrics;
};

enum class End { completed, failed, stopped, diverged, imported };
enum class Action { keep_going, checkpoint, pause, stop, drop_checkpoint };

// May name any live trial, not only the reporter.
struct Decision {
  TrialId trial = 0;
  Action action = Action::keep_going;
  std::string reason;  // for a human
};

// With a limit it is not optimised but kept to: results above it (below, if maximised) break it.
// The first objective of an experiment has none.
struct Objective {
  std::string metric = "default";
  bool maximize = false;
  std::optional<double> limit = {};
};

// What an algorithm may know of the experiment that it serves.
struct Context {
  std::optional<int> max_trials;
  std::optional<int> concurrency;
  std::vector<Objective> objectives;  // at least one once the registry has made the algorithm
};

}  // namespace attune
