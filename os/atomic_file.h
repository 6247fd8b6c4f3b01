#pragma once
// Writes files that exist whole or not at all, also after a crash of the program or of the machine.
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/file_system.h"

namespace attune {

// Writes `path`.tmp (mode 0600), flushes it to the disk, renames it over `path`, flushes the
// directory. On an error the former file is as it was, unless only the last step has failed. One
// writer of a path at a time.
Result<void> write_file_atomically(FileSystem& files, const std::string& path,
                                   std::string_view bytes);
Result<void> write_file_atomically(const std::string& path, std::string_view bytes);

// Reads the whole file, which may also be a pipe or a device; more than `limit` bytes are an error.
// Errors name the path. Files that decide what is executed are read with read_trusted_file()
// instead (os/trust.h).
Result<std::string> read_file(const std::string& path, std::size_t limit = std::size_t{1} << 30);
// Reads the rest of an open file; more than `limit` bytes are an error.
Result<std::string> read_to_end(int fd, const std::string& path, std::size_t limit);

}  // namespace attune
