#pragma once
// What attuned --list and --print-config print.
#include <string>

#include "assessors/registry.h"
#include "daemon/configuration.h"
#include "tuners/registry.h"

namespace attune {

// {"tuners": [...], "assessors": [...]}: name, aliases, summary, arguments with type, default,
// help.
json list_as_json(const TunerRegistry& tuners, const AssessorRegistry& assessors);
std::string list_as_text(const TunerRegistry& tuners, const AssessorRegistry& assessors);

json print_config(const Configuration& configuration);

}  // namespace attune
