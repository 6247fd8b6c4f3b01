#pragma once
// The few things that the runner does with files. What it makes is for its user alone.
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace attune {

// Makes the folder, and those above it that are missing: 0700.
Result<void> make_directories(const std::filesystem::path& path);

// open(2), close-on-exec, mode 0600 when it is made. A symbolic link, a FIFO, or whatever else is
// no regular file in its place is refused: somebody else may have put it there.
Result<UniqueFd> open_private(const std::filesystem::path& path, int flags);

// Whether a text that comes from outside (a file, the command line, the daemon, a trial) can name a
// file or a folder, and nothing but that: no part of a path, no option, no hidden file. 1 to 100
// letters, digits, '-', '_' and '.', the first of them a letter, a digit or '_'. `what` is for the
// message.
Result<void> check_file_name(std::string_view what, std::string_view name);

// The last `count` lines of a text file, without the final line end; at most 4 KiB. Empty when
// there is nothing to read, or no regular file: a trial may have put a FIFO there, and reading one
// would wait for ever.
std::string last_lines(const std::filesystem::path& path, int count);

}  // namespace attune
