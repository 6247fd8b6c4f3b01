#pragma once
// What the programs do to files that must survive crashes: one call of the operating system each,
// behind an interface so that tests can let any of them fail (tests/support/faulty_files.h).
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

// Errors name the call, the path and the cause. An interrupted call is repeated. The last part of
// a file's path is never followed as a symbolic link, unless that is asked for; a directory may be
// one. Neither directories nor pipes are opened. Any thread.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  struct Opening {
    bool write = false;   // and for reading; else for reading alone
    bool create = false;  // when missing
    bool truncate = false;
    bool exclusive = false;  // with create: an error when it exists
    bool follow = false;     // a symbolic link
    unsigned mode = 0600;    // of what is created
  };
  // Close-on-exec. The other functions take the path for their messages.
  virtual Result<UniqueFd> open(const std::string& path, Opening opening) = 0;

  // Bytes that were written or read, perhaps fewer than asked for; reading 0: the end of the file.
  virtual Result<std::size_t> write_at(int fd, const std::string& path, std::string_view bytes,
                                       std::uint64_t offset) = 0;
  virtual Result<std::size_t> read_at(int fd, const std::string& path, char* to, std::size_t size,
                                      std::uint64_t offset) = 0;
  virtual Result<std::uint64_t> size(int fd, const std::string& path) = 0;
  virtual Result<void> truncate(int fd, const std::string& path, std::uint64_t size) = 0;
  virtual Result<void> flush(int fd, const std::string& path) = 0;  // fdatasync

  // Whether `path` still names the open file.
  virtual Result<bool> is_at(int fd, const std::string& path) = 0;
  // An exclusive lock of the open file, which ends with it; false: another process has one.
  virtual Result<bool> lock(int fd, const std::string& path) = 0;

  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove(const std::string& path) = 0;  // nothing there: fine
  // 0700, and on the disk, each with its name in the one above; there: fine.
  virtual Result<void> make_directories(const std::string& path) = 0;
  virtual Result<void> flush_directory(const std::string& path) = 0;  // the names in it
};

FileSystem& real_files();  // without state

// "cannot open PATH: No such file or directory", say: what failed, on which path, and what errno
// says.
std::unexpected<Error> errno_error(const std::string& what, const std::string& path);

std::string directory_of(const std::string& path);  // "." for a bare name

// In pieces, as many as it takes. A range that the file does not have comes shorter.
Result<void> write_all(FileSystem& files, int fd, const std::string& path, std::string_view bytes,
                       std::uint64_t offset);
Result<std::string> read_range(FileSystem& files, int fd, const std::string& path,
                               std::uint64_t from, std::uint64_t to);
Result<std::string> read_all(FileSystem& files, int fd, const std::string& path);

}  // namespace attune
