#pragma once
// Checks whose files may decide what we execute. Everything that leads to execution (experiment
// files, journals, stores, address files, secrets) must be opened by the functions of this header.
//
// A file is trusted when it, and each folder that leads to it, belongs to us or to root, and nobody
// else can write there. A folder that only leads to the file may be open to all if it is sticky, as
// /tmp is: nobody can replace what belongs to another user there. Symbolic links are followed; they
// and the folders that they lead through must obey the same rules. Of a link in /proc, such as
// those behind /dev/stdin and <(command), only the file behind it is checked, because no path leads
// there. A character device such as a terminal is trusted itself, since only root can make one.
//
// "Us" is the effective user. For root under sudo it is also the user who called sudo, who could do
// all of it anyway. A group may write if it is private to us (Debian gives each user such a group).
// The variable ATTUNE_TRUST names others: "user:1000,group:2000", or "all" where nobody else uses
// the machine.
//
// Any thread may call. The functions ask the system for users and groups only when a group may
// write.
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

struct Trust {
  std::vector<uid_t> users;
  std::vector<gid_t> groups;
  bool everybody = false;

  // The trust of this process, from its user and its environment. An error says what in
  // ATTUNE_TRUST is wrong.
  static Result<Trust> of_process();
};

// Adds what `text`, a value of ATTUNE_TRUST, says; empty: nothing.
Result<void> add_trust(std::string_view text, Trust& trust);

enum class PathPart {
  end,  // the file or folder that was asked for
  way   // a folder that only leads to it
};

// Why a file with this `status` is not trusted, and the part of ATTUNE_TRUST that would allow it;
// both are empty if it is trusted. `private_group`: nobody but trusted users is a member of the
// file's group.
struct Distrust {
  std::string why, cure;
};
Distrust why_untrusted(const struct stat& status, const Trust& trust, bool private_group,
                       PathPart part = PathPart::end);

// Checks an open file or folder alone: the caller knows that the way to it is trusted. Errors of
// all functions name the path that is not trusted, and the cure.
Result<void> check_trusted(int fd, const std::string& path);

// Checks only that a trusted user owns the file; others may be able to write it. For what a trial
// keeps in its own folder, and may have opened to others.
Result<void> check_owner(int fd, const std::string& path);

// Checks that the process at the other end of a connected unix-domain socket runs, or ran when it
// connected, as a trusted user.
Result<void> check_peer(int fd);

// Opens an existing file or folder: open(2) with `flags`, close-on-exec. With O_NOFOLLOW it is an
// error if the last part is a symbolic link. Everything is checked before it is opened, so no FIFO
// is waited for that is not trusted.
Result<UniqueFd> open_trusted(const std::filesystem::path& path, int flags);
Result<void> check_trusted(const std::filesystem::path& path);

// Reads the whole file, like read_file() (os/atomic_file.h).
Result<std::string> read_trusted_file(const std::filesystem::path& path,
                                      std::size_t limit = std::size_t{1} << 30);

}  // namespace attune
