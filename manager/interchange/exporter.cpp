#include "manager/interchange/exporter.h"

#include <algorithm>
#include <utility>

#include "space/parse.h"

namespace attune {

ExportedExperiment exported_experiment(StoredExperiment stored) {
  ExportedExperiment exported{std::move(stored), {}, {}};
  const json& file = exported.stored.file;
  if (!file.is_object()) return exported;
  if (auto space = parse_space(file.value("searchSpace", json::object())))
    exported.space = *std::move(space);
  const json fidelity = file.value("fidelity", json());
  if (fidelity.is_object()) {
    const json metric = fidelity.value("metric", json());
    exported.fidelity = metric.is_string() ? metric.get<std::string>() : Fidelity{}.metric;
  }
  return exported;
}

void Losses::add(const std::string& sentence) {
  if (std::ranges::find(all_, sentence) == all_.end()) all_.push_back(sentence);
}

Result<void> export_trials(StoreReader& reader, const ExportedExperiment& experiment,
                           Exporter& exporter) {
  std::vector<std::string> names;
  TRY(reader.trials(experiment.stored, {}, [&](const TrialRecord& trial) {
    names.push_back(trial.job_id);
    return true;
  }));
  for (const std::string& name : names)
    TRY(exporter.add(TRY(reader.whole_trial(experiment.stored, name))));
  return {};
}

}  // namespace attune
