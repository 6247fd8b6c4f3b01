#pragma once
// Writes an experiment as a log directory of TensorBoard with its HParams plug-in: one folder for
// each trial. docs/interchange.md says what becomes what.
#include <filesystem>
#include <memory>

#include "manager/interchange/exporter.h"

namespace attune {

// As ExportFormat::into_folder. Writes what concerns the experiment at once.
Result<std::unique_ptr<Exporter>> tensorboard_exporter(const ExportedExperiment& experiment,
                                                       const std::filesystem::path& folder,
                                                       const std::filesystem::path& home);

}  // namespace attune
