#include "os/file_system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace attune {
namespace {

// A call that a signal has interrupted before it did anything is made again.
template <class Call>
auto repeated(Call call) {
  decltype(call()) result{};
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

bool is_link(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

class RealFiles final : public FileSystem {
 public:
  Result<UniqueFd> open(const std::string& path, Opening opening) override {
    // Without O_NONBLOCK a pipe in the place of a file would hold us until somebody writes to it.
    int flags = O_CLOEXEC | O_NONBLOCK | (opening.write ? O_RDWR : O_RDONLY);
    if (opening.create) flags |= O_CREAT;
    if (opening.truncate) flags |= O_TRUNC;
    if (opening.exclusive) flags |= O_EXCL;
    if (!opening.follow) flags |= O_NOFOLLOW;
    UniqueFd fd(repeated([&] { return ::open(path.c_str(), flags, opening.mode); }));
    if (fd) {
      struct stat status{};
      if (::fstat(fd.get(), &status) != 0) return errno_error("cannot look at", path);
      if (!S_ISDIR(status.st_mode) && !S_ISFIFO(status.st_mode)) return fd;
      return fail("cannot open " + path + ": it is a " +
                  (S_ISDIR(status.st_mode) ? "directory" : "pipe") + ", no file; move it away");
    }
    if (errno == EISDIR) {
      return fail("cannot open " + path + ": it is a directory, no file; move it away");
    }
    if (errno == ELOOP && is_link(path)) {
      return fail("cannot open " + path +
                  ": it is a symbolic link, which is not followed; have the file itself there");
    }
    return errno_error("cannot open", path);
  }

  Result<std::size_t> write_at(int fd, const std::string& path, std::string_view bytes,
                               std::uint64_t offset) override {
    const auto at = static_cast<off_t>(offset);
    const auto n = repeated([&] { return ::pwrite(fd, bytes.data(), bytes.size(), at); });
    if (n < 0) return errno_error("cannot write", path);
    return static_cast<std::size_t>(n);
  }

  Result<std::size_t> read_at(int fd, const std::string& path, char* to, std::size_t size,
                              std::uint64_t offset) override {
    const auto at = static_cast<off_t>(offset);
    const auto n = repeated([&] { return ::pread(fd, to, size, at); });
    if (n < 0) return errno_error("cannot read", path);
    return static_cast<std::size_t>(n);
  }

  Result<std::uint64_t> size(int fd, const std::string& path) override {
    struct stat status{};
    if (::fstat(fd, &status) != 0) return errno_error("cannot look at", path);
    return static_cast<std::uint64_t>(status.st_size);
  }

  Result<void> truncate(int fd, const std::string& path, std::uint64_t size) override {
    const auto to = static_cast<off_t>(size);
    if (repeated([&] { return ::ftruncate(fd, to); }) != 0)
      return errno_error("cannot shorten", path);
    return {};
  }

  Result<void> flush(int fd, const std::string& path) override {
    if (repeated([&] { return ::fdatasync(fd); }) != 0) return errno_error("cannot flush", path);
    return {};
  }

  Result<bool> is_at(int fd, const std::string& path) override {
    struct stat ours{}, theirs{};
    if (::fstat(fd, &ours) != 0) return errno_error("cannot look at", path);
    if (::lstat(path.c_str(), &theirs) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return false;
      return errno_error("cannot look at", path);
    }
    return ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
  }

  Result<bool> lock(int fd, const std::string& path) override {
    if (repeated([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0) return true;
    if (errno == EWOULDBLOCK) return false;
    return errno_error("cannot lock", path);
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return errno_error("cannot rename to", to);
    return {};
  }

  Result<void> remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return errno_error("cannot remove", path);
    return {};
  }

  Result<void> make_directories(const std::string& path) override {
    if (::mkdir(path.c_str(), 0700) == 0) return flush_directory(directory_of(path));
    if (errno == ENOENT) {
      const std::string parent = directory_of(path);
      if (parent == path || path.empty()) return errno_error("cannot make the directory", path);
      TRY(make_directories(parent));
      if (::mkdir(path.c_str(), 0700) == 0) return flush_directory(parent);
    }
    if (errno != EEXIST) return errno_error("cannot make the directory", path);
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return {};
    return fail("cannot make the directory " + path + ": there is a file of that name");
  }

  Result<void> flush_directory(const std::string& path) override {
    const UniqueFd fd(
        repeated([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!fd || repeated([&] { return ::fsync(fd.get()); }) != 0) {
      return errno_error("cannot flush", path);
    }
    return {};
  }
};

}  // namespace

FileSystem& real_files() {
  static RealFiles files;
  return files;
}

std::unexpected<Error> errno_error(const std::string& what, const std::string& path) {
  return fail(what + " " + path + ": " + std::strerror(errno));
}

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

Result<void> write_all(FileSystem& files, int fd, const std::string& path, std::string_view bytes,
                       std::uint64_t offset) {
  while (!bytes.empty()) {
    const std::size_t n = TRY(files.write_at(fd, path, bytes, offset));
    if (n == 0) return fail("cannot write " + path + ": not a byte of it was taken");
    bytes.remove_prefix(n);
    offset += n;
  }
  return {};
}

Result<std::string> read_range(FileSystem& files, int fd, const std::string& path,
                               std::uint64_t from, std::uint64_t to) {
  std::string bytes(to - from, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t n =
        TRY(files.read_at(fd, path, bytes.data() + done, bytes.size() - done, from + done));
    if (n == 0) break;
    done += n;
  }
  bytes.resize(done);
  return bytes;
}

Result<std::string> read_all(FileSystem& files, int fd, const std::string& path) {
  return read_range(files, fd, path, 0, TRY(files.size(fd, path)));
}

}  // namespace attune
