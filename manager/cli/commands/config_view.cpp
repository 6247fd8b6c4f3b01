// The commands attune config and attune completion-words.
#include "manager/cli/commands/stored_json.h"
#include "manager/cli/commands/views.h"
#include "manager/control/json_format.h"
#include "manager/experiment/yaml.h"
#include "manager/store/store_reader.h"

namespace attune {
namespace {

constexpr std::int64_t kTrialsOffered = 1000;  // the newest; more would be too many to choose from

// The experiment file without the stored content of templates: only a resume needs that; a new run
// reads the files again.
json as_written(json file) {
  if (!file.is_object() || !file.contains("templates")) return file;
  for (json& each : file["templates"])
    if (each.is_object()) each.erase("stored");
  return file;
}

Result<std::string> completion_words(const CompletionWordsOptions& options) {
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  std::string text;
  if (options.what == "experiments") {
    for (const StoredExperiment& experiment : TRY(reader.experiments())) {
      text += experiment.id + "\n";
      if (!experiment.name.empty()) text += experiment.name + "\n";
    }
    return text;
  }
  TrialFilter filter;
  filter.order = TrialFilter::Order::newest;
  filter.limit = kTrialsOffered;
  const StoredExperiment experiment = TRY(reader.find(options.which.experiment));
  TRY(reader.trials(experiment, filter, [&](const TrialRecord& trial) {
    text += trial.job_id + "\n";
    return true;
  }));
  return text;
}

}  // namespace

json config_json(const StoredExperiment& experiment) {
  return with_format({{"experiment_id", experiment.id},
                      {"name", experiment.name},
                      {"config", as_written(experiment.file)}});
}

Result<int> view(const ConfigOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const StoredExperiment experiment = TRY(reader.find(options.which.experiment));
  if (options.which.json) {
    print_json(console, config_json(experiment));
  } else {
    print(console, yaml_text(as_written(experiment.file)));
  }
  return kExitOk;
}

// Prints no error: the user has pressed the completion key, and is in the middle of a line.
Result<int> view(const CompletionWordsOptions& options, const Console& console) {
  print_text(console, completion_words(options).value_or(""));
  return kExitOk;
}

}  // namespace attune
