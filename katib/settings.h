#pragma once
// Names of algorithms and their settings, as an experiment of Katib gives them: texts.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arguments.h"
#include "base/json.h"
#include "base/result.h"
#include "tuners/registry.h"

namespace attune::katib {

// Katib makes the name of a service of the algorithm's name: "attune-" and the tuner's name in
// lower case.
std::string algorithm_name(std::string_view name);

// Finds a tuner by the name of an algorithm: with or without "attune-", and without regard to case,
// '-' and '_'. The beginning of a name is enough if only one tuner has it. Errors list what is
// accepted. Tuners that need reports or pauses, of which Katib knows nothing, are errors, too.
Result<const TunerEntry*> find_tuner(const TunerRegistry& tuners, std::string_view algorithm);
std::vector<std::string> accepted_algorithms(const TunerRegistry& tuners);

using Setting = std::pair<std::string, std::string>;

// The arguments that the settings give, as JSON. Setting "tpe_args.gamma" is the member gamma of
// the argument tpe_args; an object may also be given as JSON. "random_state", Katib's word, is the
// argument seed. `owner` begins the errors, which name the setting and what is accepted.
Result<json> arguments_of(std::string_view owner, const std::vector<Argument>& declared,
                          const std::vector<Setting>& settings);

}  // namespace attune::katib
