#pragma once
// Keeps in a file the key that proves a name to a coordinator (cluster/pool/name_key.h), so that a
// process that is started again under the name has the same key.
#include <filesystem>
#include <string>

#include "base/result.h"

namespace attune {

// Returns the key in the file, 64 hexadecimal digits. If there is no file, makes one of mode 0600
// with a new key, and its folder. If several processes do so at the same time, all get the same
// key. Errors name the file: it is not trusted (os/trust.h), others may read it, it holds no key,
// or it cannot be written.
Result<std::string> keep_key(const std::filesystem::path& file);

}  // namespace attune
