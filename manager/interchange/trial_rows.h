#pragma once
// The trials and the intermediate results of an experiment as flat rows. docs/commands.md lists the
// columns.
#include <cstdio>
#include <memory>

#include "manager/interchange/export_table.h"
#include "manager/interchange/exporter.h"
#include "manager/store/store_reader.h"

namespace attune {

// The arguments must outlive the table.
ExportTable trials_table(StoreReader& reader, const StoredExperiment& experiment);
ExportTable reports_table(StoreReader& reader, const StoredExperiment& experiment);

// The lines of trials_table(), one by one. As ExportFormat::into_file.
Result<std::unique_ptr<Exporter>> lines_exporter(const ExportedExperiment& experiment,
                                                 std::FILE* out);

}  // namespace attune
