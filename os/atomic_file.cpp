#include "os/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace attune {
namespace {

Result<void> write_and_flush(FileSystem& files, const std::string& path, std::string_view bytes) {
  const UniqueFd file = TRY(files.open(path, {.write = true, .create = true, .truncate = true}));
  TRY(write_all(files, file.get(), path, bytes, 0));
  return files.flush(file.get(), path);
}

}  // namespace

Result<void> write_file_atomically(FileSystem& files, const std::string& path,
                                   std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  auto written = write_and_flush(files, temporary, bytes);
  if (written) written = files.rename(temporary, path);
  if (!written) {
    [[maybe_unused]] const auto removed = files.remove(temporary);  // the first error says more
    return written;
  }
  // Without this a crash of the machine may bring the former file back.
  return files.flush_directory(directory_of(path));
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  return write_file_atomically(real_files(), path, bytes);
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno_error("cannot open", path);
  return read_to_end(file.get(), path, limit);
}

Result<std::string> read_to_end(int fd, const std::string& path, std::size_t limit) {
  std::string bytes;
  std::string buffer(1 << 16, '\0');
  while (true) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("cannot read", path);
    if (n == 0) return bytes;
    bytes.append(buffer, 0, static_cast<std::size_t>(n));
    if (bytes.size() > limit) return fail(fmt::format("{} is larger than {} bytes", path, limit));
  }
}

}  // namespace attune
