#pragma once
// An experiment of another program in attune's words: what is needed to go on with it.
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "manager/interchange/exporter.h"

namespace attune {

struct AdoptedExperiment {
  std::string name;  // of the experiment, for messages
  json file;         // keys of an experiment file; without those that the other program cannot know
  // A row for each trial, as `attune import` reads them: trial_job_id, status, parameters, and
  // `value` if the trial has a result. Further members keep what attune has no word for.
  std::vector<json> rows;
  Losses losses;
};

// Finds out by itself what the file is: a journal of Optuna's, of which `study` chooses one
// (adopt_optuna), or nni.sqlite. `path` may also be the folder of an experiment of NNI.
Result<AdoptedExperiment> adopt_file(const std::filesystem::path& path, const std::string& study);

}  // namespace attune
