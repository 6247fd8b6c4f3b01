#pragma once
// Results from elsewhere: a file of parameters and what they reached.
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "protocol/command.h"

namespace attune {

// By the name of the file: .csv, else JSON (an array) or JSON Lines. A record has its parameters
// under `parameters` or `parameter`, or in columns `parameters.NAME`, or else in all that is left;
// and its result under `score` or `value`. So what attune export writes and what NNI exports can be
// imported. Records without a result are left out. Errors name file and line or record.
Result<std::vector<ImportData::Record>> read_import_file(const std::filesystem::path& file);

}  // namespace attune
