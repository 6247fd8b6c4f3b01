#pragma once
// Makes an Assessor of what a plug-in says, as guarded_tuner.h makes a Tuner. A plug-in that is
// started anew is asked again about all reports since its last saved state.
#include <memory>
#include <string>

#include "assessors/assessor.h"
#include "os/log.h"
#include "plugins/plugin.h"

namespace attune {

std::unique_ptr<Assessor> make_guarded(std::unique_ptr<PluginAssessor> assessor,
                                       const PluginDescription& which, const std::string& plugin,
                                       Log log);

}  // namespace attune
