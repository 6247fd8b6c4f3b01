#pragma once
// Reads a file of results from elsewhere: parameters, and the scores that they reached.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/command.h"

namespace attune {

// A file *.csv is CSV, any other a JSON array or JSON Lines. A record has its result in `score` or
// `value`. Its parameters are in `parameters` or `parameter`, else in columns `parameters.NAME`,
// else in all other columns. So the exports of attune and of NNI can be imported, and so can Syne
// Tune's results.csv (syne_tune_rows.h). Records without a result are left out. Errors name the
// file, and the line or record.
Result<std::vector<ImportData::Record>> read_import_file(const std::filesystem::path& file);

// "3 results imported, 1 left out; the first: {"x":9}: not in the space"
// `done`: "could be imported", for a dry run.
std::string import_text(std::int64_t imported, std::int64_t left_out, const std::string& why,
                        std::string_view done = "imported");

}  // namespace attune
