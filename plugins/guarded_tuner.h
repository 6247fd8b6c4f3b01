#pragma once
// Makes a Tuner of what a plug-in says, and trusts nothing of it.
//
// A call fails if the plug-in says so, or if its answer cannot be used: a wrong number of answers,
// a point outside of the space, a decision on an unknown trial, a budget that is no number, a long
// text. Then the plug-in is started anew: it gets the space, its last saved state, and is told
// everything that has happened since; skip_ahead() follows, and the call is repeated. A second
// failure at the same call is an AlgorithmFailure.
//
// A plug-in need not be deterministic: its answers are noted for the journal. In a replay the noted
// answers count. A plug-in that can save gets the same calls then, and if it answers otherwise, it
// is told with withdraw() and adopt() what counts. One that cannot save only learns what has
// happened.
#include <memory>
#include <string>

#include "os/log.h"
#include "plugins/plugin.h"

namespace attune {

// `plugin`: its name, for messages.
std::unique_ptr<Tuner> make_guarded(std::unique_ptr<PluginTuner> tuner,
                                    const PluginDescription& which, const std::string& plugin,
                                    Log log);

}  // namespace attune
