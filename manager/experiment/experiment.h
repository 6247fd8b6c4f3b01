#pragma once
// What the user asked for: the experiment file, checked, with every default filled in and every
// path absolute. A value; docs/experiment-file.md says what each key means.
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
  json search_space;                      // as given: what the daemon and the store get
  Space space;                            // the same, parsed, with the constraints
  TaskProgram program;                    // of the trials
  std::vector<std::string> placeholders;  // the parameters that it refers to; sorted
  int trial_concurrency = 1;
  std::optional<std::int64_t> max_trial_number;
  std::optional<double> max_experiment_seconds;
  std::optional<double> max_trial_seconds;
  std::string log_level = "info";
  std::filesystem::path working_directory;  // experiments are folders in it
  std::optional<std::uint64_t> seed;
  json tuner, assessor, advisor;  // {name, classArgs} as given; null when absent
  bool include_intermediate_results = false;

  std::string backend = "local";  // or "pool", "slurm", "simulated"
  PoolSettings pool;              // of the backend "pool"
  SlurmSection slurm;             // of the backend "slurm"
  json simulation;                // of the backend "simulated", as given; null otherwise
  std::vector<int> gpu_indices;   // of the backend "local"; empty: all that there are
  TrialRules trial;
  Resources capacity;  // the user's own kinds; what is 0 is found out
  bool queue_trials = false;
  CheckpointRules checkpoint;
  StopRules stop;
  std::vector<Objective> objectives;  // empty: "default", in the direction of the tuner
  std::vector<std::string> constraints;
  std::vector<json> initial_points;  // tried first

  std::vector<std::string> warnings;  // keys that have no effect on this backend, and the like
  json document;                      // the file as given
  std::string file;                   // where it was read; empty: it was not
  std::map<std::string, Mark> marks;  // of its keys, as in YamlDocument
};

// What is wrong about a key, at its place in the file, or at that of what holds it.
Finding finding_of(const Experiment& experiment, const std::string& key, std::string message);

// The experiment parameters of the protocol (NNI's v2 schema without the search space), with the
// protocol extensions that this manager understands.
json daemon_parameters(const Experiment& experiment);

// An experiment file that says the same, wherever it is read: paths are absolute, the search space
// is in it, the text of each template, what was settled later (seed, limits) too.
json to_document(const Experiment& experiment);

}  // namespace attune
