#pragma once
// The settings of the operators for Slurm: the key `slurm` of an experiment file, and the prefix of
// the jobs. The manager passes them to its coordinator in a file.
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
    jobs,   // one job for each trial: each task names a worker of its own
    pilots  // jobs of plain workers, which take one trial after the other
  };
  struct Pilot {
    Resources capacity;  // of each pilot; 0: what one trial needs
    double idle = 60;    // a pilot without a trial ends after so many seconds
  };
  Mode mode = Mode::jobs;
  std::string partition, account, qos;                          // empty: the site's default
  double time_limit = std::numeric_limits<double>::infinity();  // of each job, in seconds
  // Replaces the generic resources that follow from the trial's needs.
  std::string gres;
  std::vector<std::string> arguments;  // further ones of sbatch
  double signal_before = 120;          // a job is warned so many seconds before its time limit
  double start_within = 300;           // a job may run for so many seconds before its worker comes
  double poll = 5;                     // seconds between lists of jobs
  int most_jobs = 1000;                // jobs that are submitted and have not ended, at most
  Pilot pilot;

  // Not a key of the experiment file.
  std::string prefix;  // of the names of all jobs of the experiment
};
std::string_view to_text(SlurmSettings::Mode mode);

json to_json(const SlurmSettings& settings);
// Errors name the field.
Result<SlurmSettings> parse_slurm_settings(const json& object);

}  // namespace attune
