#pragma once
// A plug-in in a shared object: attune_plugin.h is its interface.
#include <memory>
#include <string>

#include "base/result.h"
#include "plugins/plugin.h"

namespace attune {

// Loads `file`, which is not searched for anywhere: a relative path is relative to the working
// directory. Code of the file runs, with all rights of this process. It is never unloaded. Errors
// name the file: there is none, it is no shared object, it lacks something, its code throws while
// it is loaded, it was made for another version of the interface, or what it says of itself makes
// no sense.
Result<std::unique_ptr<Plugin>> open_shared_object(const std::string& file);

}  // namespace attune
