#pragma once
// Opens plug-ins, whatever they are, and adds them to the lists of algorithms.
#include <memory>
#include <string>

#include "assessors/registry.h"
#include "base/json.h"
#include "base/result.h"
#include "os/log.h"
#include "plugins/plugin.h"
#include "tuners/registry.h"

namespace attune {

// What the user has written: a text, or an object.
//   a text that ends with ".so"   a shared object
//   any other text                a command line, split into words as a shell does
//   {"file": FILE}                a shared object, whatever its name
//   {"command": ..., ...}         a program; see plugins/process/spec.h
// The plug-in's code runs. Errors name the plug-in. What a program writes to stderr goes to `log`.
// This program must be attuned, or call supervise_plugin() as attuned does.
Result<std::unique_ptr<Plugin>> open_plugin(const json& spec, const Log& log);

// A text of the command line: JSON if it begins with "{", else the text itself.
Result<json> plugin_spec(const std::string& text);

// Adds the algorithms of the plug-in to the lists. `log` gets what the guards have to say. Errors:
// it has none, or a name is taken; then the lists may have some of them.
Result<void> add_plugin(std::shared_ptr<Plugin> plugin, TunerRegistry& tuners,
                        AssessorRegistry& assessors, const Log& log);

}  // namespace attune
