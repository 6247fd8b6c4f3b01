#pragma once
// An experiment of NNI, to go on with in attune. docs/interchange.md says what becomes what.
#include <filesystem>

#include "base/result.h"
#include "manager/interchange/adopted.h"

namespace attune {

// `file`: nni.sqlite. It is only read; NNI may write to it meanwhile.
Result<AdoptedExperiment> adopt_nni(const std::filesystem::path& file);

}  // namespace attune
