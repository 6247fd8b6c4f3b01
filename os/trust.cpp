#include "os/trust.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "os/atomic_file.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr char kVariable[] = "ATTUNE_TRUST";
constexpr int kMostLinks = 40;  // as in the kernel
constexpr std::size_t kEntryBytes = 64 << 10;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
bool has(const std::vector<T>& list, const T& value) {
  return std::ranges::find(list, value) != list.end();
}

std::vector<std::string> names_of(const std::vector<uid_t>& users) {
  std::vector<std::string> names;
  for (const uid_t user : users) {
    std::vector<char> bytes(kEntryBytes);
    passwd entry{}, *found = nullptr;
    if (::getpwuid_r(user, &entry, bytes.data(), bytes.size(), &found) == 0 && found != nullptr)
      names.emplace_back(entry.pw_name);
  }
  return names;
}

// Whether the group is a user-private one: it has the number or the name of a trusted user, and
// lists nobody else as a member.
bool is_private(gid_t group, const Trust& trust) {
  const bool same_number = has<uid_t>(trust.users, group);
  std::vector<char> bytes(kEntryBytes);
  ::group entry{}, *found = nullptr;
  if (::getgrgid_r(group, &entry, bytes.data(), bytes.size(), &found) != 0) return false;
  if (found == nullptr) return same_number;
  const std::vector<std::string> names = names_of(trust.users);
  if (!same_number && !has<std::string>(names, entry.gr_name)) return false;
  for (char** member = entry.gr_mem; *member != nullptr; ++member) {
    if (!has<std::string>(names, *member)) return false;
  }
  return true;
}

// With an access list the group bits of the mode are a mask for everybody whom the list names, so
// they do not tell who may write.
bool has_access_list(int fd) {
  const std::string path = fmt::format("/proc/self/fd/{}", fd);  // fd may be an O_PATH
  return ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) >= 0;
}

std::unexpected<Error> failed(const char* what, const std::string& path, int error) {
  return fail(fmt::format("cannot {} {}: {}", what, path, std::strerror(error)));
}

Result<struct stat> look_at(int fd, const std::string& path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return failed("look at", path, errno);
  return status;
}

Result<void> judge(const std::string& path, const Distrust& found) {
  if (found.why.empty()) return {};
  return fail(
      fmt::format("{} {}, who could have commands executed in your name; make it your own (chown, "
                  "chmod go-w), use another place, or, if you trust them, set {}={}",
                  path, found.why, kVariable, found.cure));
}

Result<void> check(int fd, const std::string& path, const Trust& trust, PathPart part) {
  const struct stat status = TRY(look_at(fd, path));
  const Distrust found = why_untrusted(status, trust, /*private_group=*/false, part);
  const bool group_writes = !S_ISLNK(status.st_mode) && (status.st_mode & S_IWGRP) != 0;
  if (found.why.empty() || !group_writes) return judge(path, found);
  // Only where it decides: who is in a group may have to be asked over the network.
  const bool alone = is_private(status.st_gid, trust) && !has_access_list(fd);
  return judge(path, why_untrusted(status, trust, alone, part));
}

// Walks a path part by part. Opens each part in the folder before it, then checks the open part, so
// nobody can exchange it between the check and the use.
class Walk {
 public:
  Walk(const fs::path& path, int flags, const Trust& trust)
      : asked_(path.string()), flags_(flags), trust_(trust) {}

  Result<UniqueFd> run() {
    std::error_code error;
    const fs::path whole = fs::absolute(asked_, error);
    if (asked_.empty() || error) return failed("open", asked_, ENOENT);
    TRY(begin());
    put_first(whole);
    while (!rest_.empty()) TRY(step());
    return reopen();
  }

 private:
  Result<void> begin() {
    here_ = UniqueFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!here_) return failed("open", "/", errno);
    shown_ = "/";
    return check(here_.get(), "/", trust_, PathPart::way);
  }

  // Puts the parts of `path` before what is left to walk. `rest_` is reversed, so the next part is
  // its last element.
  void put_first(const fs::path& path) {
    std::vector<std::string> parts;
    for (const fs::path& part : path.relative_path()) {
      if (!part.empty() && part != ".") parts.push_back(part.string());
    }
    rest_.insert(rest_.end(), parts.rbegin(), parts.rend());
  }

  Result<void> step() {
    const std::string name = std::move(rest_.back());
    rest_.pop_back();
    const std::string path = (fs::path(shown_) / name).string();
    UniqueFd next(::openat(here_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status{};
    if (!next || ::fstat(next.get(), &status) != 0) return failed("open", asked_, errno);
    if (!S_ISLNK(status.st_mode)) return enter(std::move(next), path);
    if (rest_.empty() && (flags_ & O_NOFOLLOW) != 0)
      return fail(
          fmt::format("cannot open {}: it is a symbolic link, which is not followed; have "
                      "the file itself there",
                      asked_));
    if (++links_ > kMostLinks) return failed("open", asked_, ELOOP);
    // The text of a link in /proc need not be a path ("pipe:[4711]"), so the kernel must follow it.
    struct statfs system{};
    if (::fstatfs(here_.get(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC) {
      next = UniqueFd(::openat(here_.get(), name.c_str(), O_PATH | O_CLOEXEC));
      if (!next) return failed("open", asked_, errno);
      return enter(std::move(next), path);
    }
    TRY(check(next.get(), path, trust_, PathPart::end));
    char target[PATH_MAX];
    const ssize_t size = ::readlinkat(next.get(), "", target, sizeof target);
    if (size <= 0) return failed("read", path, errno);
    const fs::path leads(std::string(target, static_cast<std::size_t>(size)));
    const bool absolute = leads.is_absolute();
    put_first(leads);
    return absolute ? begin() : Result<void>();
  }

  Result<void> enter(UniqueFd next, const std::string& path) {
    TRY(check(next.get(), path, trust_, rest_.empty() ? PathPart::end : PathPart::way));
    here_ = std::move(next);
    shown_ = path;
    return {};
  }

  // Opens the checked file itself, by its descriptor: its path may lead elsewhere by now.
  Result<UniqueFd> reopen() {
    if ((flags_ & O_PATH) != 0) {
      struct stat status{};
      if ((flags_ & O_DIRECTORY) != 0 &&
          (::fstat(here_.get(), &status) != 0 || !S_ISDIR(status.st_mode)))
        return failed("open", asked_, ENOTDIR);
      return std::move(here_);
    }
    const std::string path = fmt::format("/proc/self/fd/{}", here_.get());
    UniqueFd fd(::open(path.c_str(), (flags_ & ~O_NOFOLLOW) | O_CLOEXEC));
    if (!fd) return failed("open", asked_, errno);
    return fd;
  }

  const std::string asked_;
  const int flags_;
  const Trust& trust_;
  UniqueFd here_;
  std::string shown_;              // the path of here_
  std::vector<std::string> rest_;  // parts to come; the next one is the last element
  int links_ = 0;
};

}  // namespace

Result<void> add_trust(std::string_view text, Trust& trust) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t colon = std::min(word.find(':'), word.size());
    const std::string_view kind = word.substr(0, colon);
    const auto id = number(word.substr(std::min(colon + 1, word.size())));
    if (word == "all") {
      trust.everybody = true;
    } else if (kind == "user" && id) {
      trust.users.push_back(*id);
    } else if (kind == "group" && id) {
      trust.groups.push_back(*id);
    } else {
      return fail(
          fmt::format("{}: \"{}\" is none of user:NUMBER, group:NUMBER, all", kVariable, word));
    }
  }
  return {};
}

Result<Trust> Trust::of_process() {
  Trust trust;
  trust.users = {::geteuid(), 0};
  const auto caller = number(variable("SUDO_UID"));
  if (::geteuid() == 0 && caller) trust.users.push_back(*caller);
  TRY(add_trust(variable(kVariable), trust));
  return trust;
}

Distrust why_untrusted(const struct stat& status, const Trust& trust, bool private_group,
                       PathPart part) {
  // Only root can make a device.
  if (trust.everybody || S_ISCHR(status.st_mode)) return {};
  if (!has(trust.users, status.st_uid))
    return {fmt::format("belongs to another user ({})", status.st_uid),
            fmt::format("user:{}", status.st_uid)};
  // The mode of a symbolic link means nothing: it is always 0777.
  if (S_ISLNK(status.st_mode)) return {};
  const bool sticky_way =
      part == PathPart::way && S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if (sticky_way) return {};
  const std::string mode =
      fmt::format("can be written by other users (mode {:04o})", status.st_mode & 07777);
  if ((status.st_mode & S_IWOTH) != 0) return {mode, "all"};
  if ((status.st_mode & S_IWGRP) != 0 && !private_group && !has(trust.groups, status.st_gid))
    return {mode, fmt::format("group:{}", status.st_gid)};
  return {};
}

Result<void> check_trusted(int fd, const std::string& path) {
  return check(fd, path, TRY(Trust::of_process()), PathPart::end);
}

Result<void> check_owner(int fd, const std::string& path) {
  struct stat status = TRY(look_at(fd, path));
  status.st_mode &= ~static_cast<mode_t>(S_IWGRP | S_IWOTH);
  return judge(path, why_untrusted(status, TRY(Trust::of_process()), true));
}

Result<void> check_peer(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return failed("ask who is at", "the other end of a socket", errno);
  const Trust trust = TRY(Trust::of_process());
  if (trust.everybody || has(trust.users, peer.uid)) return {};
  return fail(fmt::format("process {} runs as another user ({}); if you trust them, set {}=user:{}",
                          peer.pid, peer.uid, kVariable, peer.uid));
}

Result<UniqueFd> open_trusted(const fs::path& path, int flags) {
  const Trust trust = TRY(Trust::of_process());
  return Walk(path, flags, trust).run();
}

Result<void> check_trusted(const fs::path& path) {
  TRY(open_trusted(path, O_PATH));
  return {};
}

Result<std::string> read_trusted_file(const fs::path& path, std::size_t limit) {
  const UniqueFd file = TRY(open_trusted(path, O_RDONLY));
  return read_to_end(file.get(), path.string(), limit);
}

}  // namespace attune
