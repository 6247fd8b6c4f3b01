#pragma once
// Makes folders and files for their user alone, opens regular files only, and reads the ends of
// text files.
#include <filesystem>
#include <string>

#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

// Makes the folder and its missing parents, with mode 0700.
Result<void> make_directories(const std::filesystem::path& path);

// open(2) with `flags`, close-on-exec, and mode 0600 for a new file. Refuses a symbolic link, a
// FIFO and everything else that is no regular file: somebody else may have put it there.
Result<UniqueFd> open_private(const std::filesystem::path& path, int flags);

// The last bytes of an open regular file, at most 4 KiB; empty when it cannot be read.
std::string end_of_file(const UniqueFd& file);
// The last `count` lines of a text file, without the final line end; at most 4 KiB. Empty when
// there is nothing to read, or no regular file: a trial may have put a FIFO there, and reading one
// would wait for ever.
std::string last_lines(const std::filesystem::path& path, int count);

}  // namespace attune
