#pragma once
// The forms that are written trial by trial: the one list of them. CSV, and rows of reports, are
// tables (export_table.h).
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "manager/interchange/exporter.h"

namespace attune {

struct ExportFormat {
  std::string_view name;
  // The file or folder in <experiment>/export to which trials are added while the experiment runs;
  // empty: it is only written as a whole.
  std::string_view live_name;
  // Whether the folder that the user names holds several experiments, of which this one becomes a
  // folder that is called by its id.
  bool is_shared;
  // One of the two; the other is null. `experiment`, and the file, outlive the exporter. `folder`
  // is made; `home` is what it will be called in the end.
  Result<std::unique_ptr<Exporter>> (*into_file)(const ExportedExperiment& experiment,
                                                 std::FILE* out);
  Result<std::unique_ptr<Exporter>> (*into_folder)(const ExportedExperiment& experiment,
                                                   const std::filesystem::path& folder,
                                                   const std::filesystem::path& home);
};

// Null: there is no such form.
const ExportFormat* find_export_format(std::string_view name);

}  // namespace attune
