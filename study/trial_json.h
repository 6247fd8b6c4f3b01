#pragma once
// Trials as JSON, for those who cannot read C++ (study/study_c.h says what the members are).
#include "base/json.h"
#include "study/study_trial.h"

namespace attune {

json to_json(const StudyTrial& trial);
json to_json(const Suggestion& trial);
json to_json(const Asked& asked);

}  // namespace attune
