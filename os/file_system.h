#pragma once
// The file operations of data that must survive crashes. Each function is one call of the operating
// system, behind an interface so that tests can let any of them fail
// (tests/support/faulty_files.h).
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

// Errors name the call, the path and the cause. An interrupted call is repeated. If the last part
// of a file's path is a symbolic link, opening it fails, unless `follow` is set; directories may be
// links. Neither directories nor pipes are opened. Any thread may call.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  struct Opening {
    bool write = false;   // read and write; otherwise read only
    bool create = false;  // if the file is missing
    bool truncate = false;
    bool exclusive = false;  // with create: it is an error if the file exists
    bool follow = false;     // follow a symbolic link
    unsigned mode = 0600;    // of a created file
  };
  // The descriptor is close-on-exec. Functions with an `fd` use `path` for their messages only,
  // except is_at().
  virtual Result<UniqueFd> open(const std::string& path, Opening opening) = 0;

  // Return how many bytes were written or read, which may be fewer than asked for. Reading 0 bytes
  // means the end of the file.
  virtual Result<std::size_t> write_at(int fd, const std::string& path, std::string_view bytes,
                                       std::uint64_t offset) = 0;
  virtual Result<std::size_t> read_at(int fd, const std::string& path, char* to, std::size_t size,
                                      std::uint64_t offset) = 0;
  virtual Result<std::uint64_t> size(int fd, const std::string& path) = 0;
  virtual Result<void> truncate(int fd, const std::string& path, std::uint64_t size) = 0;
  virtual Result<void> flush(int fd, const std::string& path) = 0;  // fdatasync

  // Whether `path` still names the open file.
  virtual Result<bool> is_at(int fd, const std::string& path) = 0;
  // Takes an exclusive lock, which is released when the file is closed; false: another process
  // holds it.
  virtual Result<bool> lock(int fd, const std::string& path) = 0;

  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove(const std::string& path) = 0;  // a missing file is no error
  // Makes a directory and its missing parents, with mode 0700, and flushes each new name to the
  // disk. An existing directory is no error.
  virtual Result<void> make_directories(const std::string& path) = 0;
  // Makes the names in it durable.
  virtual Result<void> flush_directory(const std::string& path) = 0;
};

FileSystem& real_files();  // without state

// An error such as "cannot open PATH: No such file or directory": `what`, the path, and what errno
// means.
std::unexpected<Error> errno_error(const std::string& what, const std::string& path);

std::string directory_of(const std::string& path);  // "." for a bare name

// Write or read everything, in as many calls as it takes. The part of a range that is behind the
// end of the file is left out.
Result<void> write_all(FileSystem& files, int fd, const std::string& path, std::string_view bytes,
                       std::uint64_t offset);
Result<std::string> read_range(FileSystem& files, int fd, const std::string& path,
                               std::uint64_t from, std::uint64_t to);
Result<std::string> read_all(FileSystem& files, int fd, const std::string& path);

}  // namespace attune
