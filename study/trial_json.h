#pragma once
// Trials as JSON, for those who cannot read C++ (study/study_c.h says what the members are).
#include <string>

#include "base/json.h"
#include "study/study_trial.h"

namespace attune {

json to_json(const StudyTrial& trial);
json to_json(const Suggestion& trial);
// As text, without the JSON between: in C an ask takes 4 us with this, and 6 us with that.
std::string text_of(const Asked& asked);

}  // namespace attune
