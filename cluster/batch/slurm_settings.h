#pragma once
// What the operators for Slurm are told: the key `slurm` of an experiment file, and what belongs
// to it. Travels from the manager to its coordinator as a file.
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "backends/resources.h"
#include "base/json.h"
#include "base/result.h"

namespace attune {

struct SlurmSettings {
  enum class Mode {
    jobs,   // one job per trial: tasks are for one worker each, named as the task
    pilots  // jobs of plain workers, which take one trial after the other
  };
  struct Pilot {
    Resources capacity;  // of each; what is 0: as one trial needs
    double idle = 60;    // seconds without a trial after which one goes
  };
  Mode mode = Mode::jobs;
  std::string partition, account, qos;                          // empty: the site's default
  double time_limit = std::numeric_limits<double>::infinity();  // seconds of each job
  std::string gres;                    // instead of what the trial's resources say
  std::vector<std::string> arguments;  // of sbatch, further ones
  double signal_before = 120;          // seconds before the time limit
  double start_within = 300;           // seconds that a job may run before its worker comes
  double poll = 5;                     // seconds
  int most_jobs = 1000;                // submitted and not ended
  Pilot pilot;

  // Of the experiment.
  std::string prefix;  // of the names of all its jobs
};
std::string_view to_text(SlurmSettings::Mode mode);

json to_json(const SlurmSettings& settings);
// Errors name the field.
Result<SlurmSettings> parse_slurm_settings(const json& object);

}  // namespace attune
