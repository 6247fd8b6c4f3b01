#pragma once
// The checked experiment file: all defaults are filled in, and paths are absolute.
// docs/experiment-file.md says what each key means.
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/trial.h"
#include "manager/experiment/findings.h"
#include "manager/experiment/pool_settings.h"
#include "manager/experiment/slurm_section.h"
#include "manager/experiment/task_program.h"
#include "manager/trials/checkpoint_keeper.h"
#include "manager/trials/trial_rules.h"
#include "manager/trials/tuning_status.h"
#include "space/space.h"

namespace attune {

struct Experiment {
  std::string name;                       // may be empty
  json search_space;                      // as given; the daemon and the store get this
  Space space;                            // the same, parsed, with the constraints
  TaskProgram program;                    // of the trials
  std::vector<std::string> placeholders;  // parameters that `program` refers to; sorted
  int trial_concurrency = 1;
  std::optional<std::int64_t> max_trial_number;
  std::optional<double> max_experiment_seconds;
  std::optional<double> max_trial_seconds;
  std::string log_level = "info";
  std::filesystem::path working_directory;  // each experiment is a folder in it
  std::optional<std::uint64_t> seed;
  json tuner, assessor, advisor;  // {name, classArgs} as given; null when absent
  bool include_intermediate_results = false;
  std::vector<json> plugins;         // as plugins/open/open.h takes them
  std::vector<std::string> exports;  // forms to write while it runs; sorted, each once

  std::string backend = "local";  // or "pool", "slurm", "simulated"
  PoolSettings pool;              // for the backend "pool"
  SlurmSection slurm;             // for the backend "slurm"
  json simulation;                // for the backend "simulated", as given; null: no such key
  std::vector<int> gpu_indices;   // for the backend "local"; empty: all GPUs of the machine
  TrialRules trial;
  Resources capacity;  // as RunnerOptions::capacity: 0 means what the backend finds
  bool queue_trials = false;
  CheckpointRules checkpoint;
  StopRules stop;
  std::vector<Objective> objectives;  // empty: "default", in the direction of the tuner
  std::vector<std::string> constraints;
  std::optional<Fidelity> fidelity;
  std::vector<json> initial_points;  // tried first
  // Earlier experiments: with a '/' the absolute path of a folder, else a name or an id.
  std::vector<std::string> learn_from;

  std::vector<std::string> warnings;  // such as keys that have no effect on this backend
  json document;                      // the file as given
  std::string file;                   // its path, for messages; empty: read from the store
  std::map<std::string, Mark> marks;  // YamlDocument::marks of the file; empty: as `file`
};

// A finding at the place of a key in the file. If the place of the key is unknown: at the place of
// the object that holds it.
Finding finding_of(const Experiment& experiment, const std::string& key, std::string message);

// The key that says whether a report waits for its decision (TaskProgram::in_step). It may where
// the trials report by attune's library, and are not simulated.
inline constexpr const char* kDecisions = "decisions";
bool may_be_in_step(const Experiment& experiment);

// The experiment parameters that the daemon is started with (docs/protocol.md): NNI's v2 schema
// without the search space, and the protocol extensions that this manager understands.
json daemon_parameters(const Experiment& experiment);

// An experiment file that means the same in any folder. Its paths are absolute. It contains the
// search space, the text of each template, and what was settled after reading (seed, limits).
json to_document(const Experiment& experiment);

}  // namespace attune
