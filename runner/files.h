#pragma once
// The few things that the runner does with files.
#include <filesystem>
#include <string>

#include "base/result.h"

namespace attune {

Result<void> make_directories(const std::filesystem::path& path);

// The last `count` lines of a text file, without the final line end; at most 4 KiB. Empty when
// there is nothing to read.
std::string last_lines(const std::filesystem::path& path, int count);

}  // namespace attune
