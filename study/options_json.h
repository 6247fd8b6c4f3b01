#pragma once
// StudyOptions as JSON, for those who cannot write C++ (study/study_c.h says what the members are).
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "study/study_options.h"

namespace attune {

// Members that are missing keep their defaults. Errors have a place: "options.seed: must be ...".
Result<StudyOptions> options_from_json(const json& options);
Result<Durability> parse_durability(std::string_view text);

}  // namespace attune
