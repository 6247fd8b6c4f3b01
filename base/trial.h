#pragma once
// The vocabulary that several rooms share.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attune {

// The daemon's own number of a proposed configuration; it is not the manager's parameter_id. Trials
// that were not proposed here have negative numbers.
using TrialId = std::int64_t;
inline constexpr TrialId kImportedTrial = -1;  // every imported outcome carries this id

// Metrics as the trial reported them: in its order, never negated. The first objective comes first
// ("default" unless the experiment names it).
using Metrics = std::vector<std::pair<std::string, double>>;

// One intermediate result. `step` counts from 0. Resource, time and cost are metrics, too.
struct Report {
  TrialId trial = 0;
  std::int64_t step = 0;
  Metrics metrics;
};

enum class End { completed, failed, stopped, diverged, imported };
enum class Action { keep_going, checkpoint, pause, stop, drop_checkpoint };

// What an algorithm wants done with a trial. It may name any live trial, not only the reporter.
struct Decision {
  TrialId trial = 0;
  Action action = Action::keep_going;
  std::string reason = {};  // for a human
  // With Action::stop: the trial has used the whole resource that the rule gives. So its last
  // report is its final result, and it has completed.
  bool complete = false;
};

// One metric of the experiment. With a `limit` the metric is a constraint and is not optimised: a
// result above the limit (below, if maximised) breaks it. The first objective of an experiment has
// no limit.
struct Objective {
  std::string metric = "default";
  bool maximize = false;
  std::optional<double> limit = {};
};

// How far a full training goes: trials that use less than that are of a lower fidelity.
struct Fidelity {
  std::string metric = "training_iteration";  // that counts how far a trial is
  std::int64_t max = 1;                       // its value at the end of a full training; from 1
};

// What a tuner or an assessor is told of its experiment.
struct Context {
  std::optional<int> max_trials;
  std::optional<int> concurrency;
  std::vector<Objective> objectives;  // at least one once the registry has made the algorithm
  std::optional<Fidelity> fidelity = {};
  bool pauses = false;    // the manager can pause trials, and let them go on from checkpoints
  bool assessed = false;  // an assessor judges the trials
};

}  // namespace attune
