#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace attune {
namespace {

std::unexpected<Error> failed(const std::string& what, const std::string& path) {
  return fail(what + " " + path + ": " + std::strerror(errno));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

Result<void> write_all(int fd, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("cannot write", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> write_and_flush(const std::string& path, std::string_view bytes) {
  Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return failed("cannot open", path);
  TRY(write_all(file.get(), path, bytes));
  if (::fdatasync(file.get()) != 0) return failed("cannot flush", path);
  if (!file.close()) return failed("cannot close", path);
  return {};
}

}  // namespace

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  if (auto written = write_and_flush(temporary, bytes); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    auto error = failed("cannot rename to", path);
    ::unlink(temporary.c_str());
    return error;
  }
  // Without this a crash of the machine may bring the former file back.
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  const Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0 || ::fsync(opened.get()) != 0) return failed("cannot flush", directory);
  return {};
}

Result<std::string> read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return failed("cannot open", path);
  std::string bytes;
  std::string buffer(1 << 16, '\0');
  while (true) {
    const ssize_t n = ::read(file.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("cannot read", path);
    if (n == 0) return bytes;
    bytes.append(buffer, 0, static_cast<std::size_t>(n));
  }
}

}  // namespace attune
