#pragma once
// The names of the trials that attune-katib proposes. A name tells the number of the proposal, and
// that a trial was proposed here with just these values, also to a program that knows nothing else.
#include <cstdint>
#include <optional>
#include <string>

#include "katib/plan.h"

namespace attune::katib {

// A DNS label (lower case letters, digits, '-'): the beginning of the experiment's name, the
// number, and a hash of the values. At most 57 characters, because Kubernetes appends 6 to name the
// pods of a job.
std::string trial_name(const std::string& experiment, std::int64_t number, const Values& values);

// The number in a name of the form that trial_name() makes; nothing for any other name.
std::optional<std::int64_t> number_in(const std::string& experiment, const std::string& name);

// Whether trial_name() has made the name, for these values.
bool is_ours(const std::string& experiment, const std::string& name, const Values& values);

}  // namespace attune::katib
