#pragma once
// Plug-ins that are programs in any language: one JSON object a line on stdin and stdout. The
// protocol: docs/plugin-protocol.md.
#include <memory>

#include "base/result.h"
#include "os/clock.h"
#include "os/log.h"
#include "plugins/plugin.h"
#include "plugins/process/program.h"

namespace attune {

// Starts the program, and asks what it offers. Each tuner and assessor that the plug-in makes has a
// program of its own. What a program writes to stderr goes to the log. `clock` must outlive what is
// made. Errors of this function name the command, those of the calls do not: the guards do. After
// an error the program and all that it has started are gone.
//
// The calls block, in the thread that makes them, at most spec.timeout and the few seconds in which
// a program that has failed is ended. SIGPIPE must be ignored.
Result<std::unique_ptr<Plugin>> open_process_plugin(ProcessPluginSpec spec, const Clock& clock,
                                                    const Log& log);

}  // namespace attune
