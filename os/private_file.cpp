#include "os/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace attune {

Result<void> make_directories(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {};
  const auto parent = path.parent_path();
  if (!parent.empty() && parent != path) TRY(make_directories(parent));
  // "a/" has no last name, and its parent "a" is made already.
  if (path.has_filename() && ::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(fmt::format("cannot make {}: {}", path.string(), strerror(errno)));
  if (!std::filesystem::is_directory(path, error))
    return fail(fmt::format("cannot make {}: there is a file of that name", path.string()));
  return {};
}

Result<UniqueFd> open_private(const std::filesystem::path& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  const int error = errno;
  struct stat status{};
  if ((!fd && error == ELOOP) ||
      (fd && (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))))
    return fail(
        fmt::format("{} is no regular file: who has put it there? Remove it", path.string()));
  if (!fd) return fail(fmt::format("cannot open {}: {}", path.string(), strerror(error)));
  return fd;
}

std::string end_of_file(const UniqueFd& file) {
  constexpr off_t kMost = 4096;
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return "";
  std::string text(static_cast<std::size_t>(std::min(status.st_size, kMost)), '\0');
  const ssize_t size = ::pread(file.get(), text.data(), text.size(),
                               status.st_size - static_cast<off_t>(text.size()));
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

std::string last_lines(const std::filesystem::path& path, int count) {
  const auto file = open_private(path, O_RDONLY);
  if (!file) return "";
  std::string text = end_of_file(*file);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t at = text.size();
  for (int i = 0; i < count && at != 0 && at != std::string::npos; ++i)
    at = text.rfind('\n', at - 1);
  return at == std::string::npos || at == 0 ? text : text.substr(at + 1);
}

}  // namespace attune
