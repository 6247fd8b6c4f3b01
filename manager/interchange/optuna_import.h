#pragma once
// A study of Optuna's, to go on with in attune. docs/interchange.md says what becomes what.
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "manager/interchange/adopted.h"

namespace attune {

// `study`: its name; empty: the only one of the file. Errors name the line, or the
// studies, and those of the second function the file.
Result<AdoptedExperiment> adopt_optuna_journal(std::string_view text, const std::string& study);
Result<AdoptedExperiment> adopt_optuna(const std::filesystem::path& file, const std::string& study);

}  // namespace attune
