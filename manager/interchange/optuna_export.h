#pragma once
// Writes an experiment as a study in Optuna's journal, for optuna.storages.JournalStorage.
// docs/interchange.md says what becomes what.
#include <cstdio>
#include <memory>

#include "manager/interchange/exporter.h"

namespace attune {

// Writes the study into `out` at once, and a line for each trial. The arguments outlive the
// exporter. A failed write stays in ferror(out). Error: the study cannot be written, because two
// parameters would have the same name.
Result<std::unique_ptr<Exporter>> optuna_exporter(const ExportedExperiment& experiment,
                                                  std::FILE* out);

}  // namespace attune
