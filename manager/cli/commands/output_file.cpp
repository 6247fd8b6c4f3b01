#include "manager/cli/commands/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace attune {
namespace {

// true: `path` is a regular file or does not exist, and can be replaced by a new file. false: it is
// a device, a FIFO or /dev/stdout, which is opened and written to.
Result<bool> takes_a_file(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return true;
  if (S_ISDIR(status.st_mode)) return fail(path + " is a directory; name a file in it");
  if (S_ISREG(status.st_mode)) return true;
  // Links such as /dev/stdout lead to what the shell has opened. Another link to a file is refused:
  // only the user knows whether the link or the file should be replaced.
  const bool opened = path == "/dev/stdout" || path == "/dev/stderr" ||
                      path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
  if (S_ISLNK(status.st_mode) && !opened &&
      (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)))
    return fail(path + " is a symbolic link; name the file that it leads to, or remove it");
  return false;
}

Result<void> write_and_close(int fd, const std::string& path, const WriteInto& body) {
  std::FILE* file = fd < 0 ? nullptr : ::fdopen(fd, "w");
  if (file == nullptr) return fail(fmt::format("cannot write {}: {}", path, strerror(errno)));
  Result<void> written = body(file);
  const bool failed = std::fflush(file) != 0 || std::ferror(file) != 0;
  const int error = errno;
  if (std::fclose(file) != 0 || failed)
    return fail(fmt::format("cannot write {}: {}", path, strerror(failed ? error : errno)));
  return written;
}

}  // namespace

Result<void> write_file(const std::string& path, const WriteInto& body) {
  if (!TRY(takes_a_file(path)))
    // Appends: /dev/stdout may lead to a file that is not empty.
    return write_and_close(::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC), path,
                           body);
  // Written beside the file first, because nobody could see that a file is only half written.
  const std::string partial = path + ".part";
  // Always a new file, so that no symbolic link that somebody has put there is followed.
  ::unlink(partial.c_str());
  auto written = write_and_close(
      ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666), partial,
      body);
  if (written && std::rename(partial.c_str(), path.c_str()) != 0)
    written = fail(fmt::format("cannot write {}: {}", path, strerror(errno)));
  if (!written) ::unlink(partial.c_str());
  return written;
}

}  // namespace attune
