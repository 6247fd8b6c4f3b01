#pragma once
// Results from elsewhere: a file of parameters and what they reached.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/command.h"

namespace attune {

// By the name of the file: .csv, else JSON (an array) or JSON Lines. A record has its parameters
// under `parameters` or `parameter`, or in columns `parameters.NAME`, or else in all that is left;
// and its result under `score` or `value`. So what attune export writes and what NNI exports can be
// imported. Records without a result are left out. Errors name file and line or record.
Result<std::vector<ImportData::Record>> read_import_file(const std::filesystem::path& file);

// "3 results imported, 1 left out; the first: {"x":9}: not in the space"
// `done`: "could be imported", for a dry run.
std::string import_text(std::int64_t imported, std::int64_t left_out, const std::string& why,
                        std::string_view done = "imported");

}  // namespace attune
