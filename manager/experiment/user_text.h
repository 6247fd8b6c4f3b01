#pragma once
// Reading text files that a person has written.
#include <filesystem>
#include <string>

#include "base/result.h"

namespace attune {

// Errors: what os/trust.h says of the file; line and column of a byte that is not UTF-8.
Result<std::string> read_user_text(const std::filesystem::path& path);

}  // namespace attune
