#pragma once
// A tuner and an assessor behind the functions of attune_plugin.h.
#include <memory>

#include "plugins/abi_values.h"
#include "plugins/plugin.h"

namespace attune {

// The functions of `algorithm` must be there as long as the program runs. Errors: it cannot be
// made.
Result<std::unique_ptr<PluginTuner>> make_abi_tuner(const attune_algorithm& algorithm,
                                                    PluginSetup setup);
Result<std::unique_ptr<PluginAssessor>> make_abi_assessor(const attune_algorithm& algorithm,
                                                          PluginSetup setup);

}  // namespace attune
