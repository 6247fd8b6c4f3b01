#pragma once
// The few things that the runner does with files. What it makes is for its user alone.
#include <filesystem>
#include <string>

#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

// Makes the folder, and those above it that are missing: 0700.
Result<void> make_directories(const std::filesystem::path& path);

// open(2), close-on-exec, mode 0600 when it is made. A symbolic link, a FIFO, or whatever else is
// no regular file in its place is refused: somebody else may have put it there.
Result<UniqueFd> open_private(const std::filesystem::path& path, int flags);

// The last bytes of an open regular file, at most 4 KiB; empty when it cannot be read.
std::string end_of_file(const UniqueFd& file);
// The last `count` lines of a text file, without the final line end; at most 4 KiB. Empty when
// there is nothing to read, or no regular file: a trial may have put a FIFO there, and reading one
// would wait for ever.
std::string last_lines(const std::filesystem::path& path, int count);

}  // namespace attune
