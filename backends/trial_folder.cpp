#include "backends/trial_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "os/directory_entries.h"
#include "os/trust.h"

namespace attune {
namespace {

constexpr char kAnswered[] = "answered";  // MetricTail::end_waits() removes it
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::unexpected<Error> cannot(const char* what, const std::filesystem::path& path) {
  return fail(fmt::format("cannot {} {}: {}", what, path.string(), strerror(errno)));
}

std::unexpected<Error> no_file(const std::filesystem::path& path) {
  return fail(fmt::format("{} is no regular file: who has put it there?", path.string()));
}

bool is_file(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

std::string spool_name(int attempt) { return fmt::format("spool.{}", attempt); }

}  // namespace

Result<void> make_private_directories(const std::filesystem::path& path) {
  // A trial may have put anything there, even a loop of links; then mkdir() gives the error.
  std::error_code unknown;
  if (path.has_parent_path() && path.parent_path() != path &&
      !std::filesystem::exists(path, unknown) && !unknown) {
    TRY(make_private_directories(path.parent_path()));
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return cannot("make", path);
  return {};
}

Result<TrialFolder> TrialFolder::make(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return cannot("make", path);
  return open(path);
}

Result<TrialFolder> TrialFolder::open(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), kFolderFlags));
  if (!fd) return cannot("open", path);
  TRY(check_owner(fd.get(), path.string()));
  return TrialFolder(path, std::move(fd));
}

Result<UniqueFd> TrialFolder::open_file(int folder, const std::string& name, int flags) const {
  UniqueFd fd(
      ::openat(folder, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  if (!fd) return cannot("open", path_ / name);
  return fd;
}

Result<UniqueFd> TrialFolder::enter(std::string& name, bool make_missing) const {
  UniqueFd folder(::openat(fd_.get(), ".", kFolderFlags));
  for (std::size_t slash; folder && (slash = name.find('/')) != std::string::npos;) {
    const std::string part = name.substr(0, slash);
    if (make_missing && ::mkdirat(folder.get(), part.c_str(), 0700) != 0 && errno != EEXIST)
      return cannot("make", path_ / part);
    UniqueFd next(::openat(folder.get(), part.c_str(), kFolderFlags));
    if (!next && !make_missing && errno == ENOENT) return next;
    if (!next) return cannot("open", path_ / part);
    folder = std::move(next);  // closes the former one, which may change errno
    name.erase(0, slash + 1);
  }
  if (!folder) return cannot("open", path_);
  return folder;
}

Result<void> TrialFolder::remove(const std::string& name) const {
  std::string last = name;
  const UniqueFd folder = TRY(enter(last, false));
  if (!folder) return {};
  if (::unlinkat(folder.get(), last.c_str(), 0) != 0 && errno != ENOENT)
    return cannot("remove", path_ / name);
  return {};
}

Result<void> TrialFolder::write(const std::string& name, std::string_view text,
                                bool executable) const {
  std::string last = name;
  const UniqueFd folder = TRY(enter(last, true));
  // Writes a temporary file and renames it, so that a reader finds the old file or the whole new
  // one.
  const std::string temporary = std::string(kReservedPrefix) + "new";
  ::unlinkat(folder.get(), temporary.c_str(), 0);
  const UniqueFd fd = TRY(open_file(folder.get(), temporary, O_WRONLY | O_CREAT | O_EXCL));
  while (!text.empty()) {
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return cannot("write", path_ / temporary);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (executable && ::fchmod(fd.get(), 0700) != 0) return cannot("write", path_ / temporary);
  if (::renameat(folder.get(), temporary.c_str(), folder.get(), last.c_str()) != 0) {
    return cannot("write", path_ / name);
  }
  return {};
}

Result<void> TrialFolder::prepare(int attempt, bool in_step) const {
  if (attempt > 0) remove_parameters();
  if (::mkdirat(fd_.get(), ".nni", 0700) != 0 && errno != EEXIST) {
    return cannot("make", path_ / ".nni");
  }
  const UniqueFd nni(::openat(fd_.get(), ".nni", kFolderFlags));
  if (!nni) return cannot("open", path_ / ".nni");
  // Makes new files, because processes of an earlier attempt may still have the old ones open.
  for (const char* name : {"metrics", kAnswered}) {
    if (::unlinkat(nni.get(), name, 0) != 0 && errno != ENOENT)
      return cannot("remove", path_ / ".nni" / name);
  }
  TRY(open_file(nni.get(), "metrics", O_WRONLY | O_CREAT | O_EXCL));
  if (in_step) TRY(open_file(nni.get(), kAnswered, O_WRONLY | O_CREAT | O_EXCL));
  return {};
}

// The size says it, and not the content: it changes at once, needs no room on the disk, and is up
// to date whenever a machine that shares the folder opens the file.
Result<void> TrialFolder::answer(std::int64_t reports) const {
  if (reports > kMostAnswers) return {};
  std::string name = std::string(".nni/") + kAnswered;
  const UniqueFd folder = TRY(enter(name, false));
  if (!folder || ::faccessat(folder.get(), kAnswered, F_OK, AT_SYMLINK_NOFOLLOW) != 0) return {};
  const UniqueFd fd = TRY(open_file(folder.get(), kAnswered, O_WRONLY));
  struct stat status{};
  if (!is_file(fd.get()) || ::fstat(fd.get(), &status) != 0)
    return no_file(path_ / ".nni" / kAnswered);
  if (status.st_size < reports && ::ftruncate(fd.get(), reports) != 0)
    return cannot("write", path_ / ".nni" / kAnswered);
  return {};
}

void TrialFolder::remove_parameters() const {
  for (const auto& entry : entries_of(path_)) {
    const std::string name = entry.filename().string();
    if (name.starts_with("parameter_") && name.ends_with(".cfg")) {
      ::unlinkat(fd_.get(), name.c_str(), 0);
    }
  }
}

Result<UniqueFd> TrialFolder::create_spool(int attempt) const {
  const std::string name = spool_name(attempt);
  UniqueFd fd = TRY(open_file(fd_.get(), name, O_RDWR | O_CREAT | O_APPEND));
  if (!is_file(fd.get())) return no_file(path_ / name);
  struct stat status{};
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 || ::fstat(fd.get(), &status) != 0) {
    return fail(
        fmt::format("{} is in use: this attempt was started before", (path_ / name).string()));
  }
  if (status.st_size == 0) return fd;
  if (::renameat(fd_.get(), name.c_str(), fd_.get(), (name + ".forgotten").c_str()) != 0)
    return cannot("rename", path_ / name);
  // The name is free now.
  return create_spool(attempt);
}

std::vector<int> TrialFolder::attempts() const {
  std::vector<int> found;
  for (const auto& entry : entries_of(path_)) {
    const std::string name = entry.filename().string();
    constexpr std::string_view kPrefix = "spool.";
    if (!name.starts_with(kPrefix)) continue;
    int attempt = 0;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, attempt);
    if (error == std::errc() && stop == end) found.push_back(attempt);
  }
  return found;
}

Result<UniqueFd> TrialFolder::open_spool(int attempt) const {
  const std::string name = spool_name(attempt);
  UniqueFd fd(::openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && errno != ENOENT) return cannot("open", path_ / name);
  if (fd && !is_file(fd.get())) return no_file(path_ / name);
  if (fd) TRY(check_owner(fd.get(), (path_ / name).string()));
  return fd;
}

}  // namespace attune
