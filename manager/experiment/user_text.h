#pragma once
// Reads text files that a person has written.
#include <filesystem>
#include <string>

#include "base/result.h"

namespace attune {

// Errors: those of read_trusted_file() (os/trust.h), also above 64 MiB; and a byte that is not
// UTF-8, with its line and column.
Result<std::string> read_user_text(const std::filesystem::path& path);

}  // namespace attune
