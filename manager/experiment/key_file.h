#pragma once
// The key that a name is bound to (cluster/pool/name_key.h), in a file: whoever is started again
// under the name has it there.
#include <filesystem>
#include <string>

#include "base/result.h"

namespace attune {

// The key that is in the file, 64 hexadecimal digits. Where there is no file yet, one with a new
// key is made, mode 0600, and its folder too; of those who do so at the same time all get the same
// key. Errors name the file: it is not trusted (os/trust.h), is open to others, holds no key, or
// cannot be written.
Result<std::string> keep_key(const std::filesystem::path& file);

}  // namespace attune
