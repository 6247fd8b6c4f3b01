#pragma once
// Writes an experiment as the folder of an experiment in MLflow's file store: a run for each trial.
// docs/interchange.md says what becomes what.
#include <filesystem>
#include <memory>

#include "manager/interchange/exporter.h"

namespace attune {

// As ExportFormat::into_folder: `folder` is that of the experiment, in `mlruns`.
Result<std::unique_ptr<Exporter>> mlflow_exporter(const ExportedExperiment& experiment,
                                                  const std::filesystem::path& folder,
                                                  const std::filesystem::path& home);

}  // namespace attune
