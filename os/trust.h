#pragma once
// Whose files may decide what we execute. Everything that leads to execution (experiment files,
// journals, stores, address files, secrets) is opened by way of this header.
//
// A file is trusted when it, and each folder that leads to it, belongs to us or to root, and nobody
// else can write there. A folder that only leads somewhere may be open to all if it is sticky, as
// /tmp is: nobody can replace what belongs to another user there. Symbolic links are followed; they
// and the folders that they lead through follow the same rules. What a descriptor of ours leads to
// (/dev/stdin, <(command)) is looked at itself, not the way to it.
//
// "Us" is the effective user; for root under sudo, also the user who called sudo, who could do all
// of it anyway. A group may write that has one member, us (umask 002 on Debian). The variable
// ATTUNE_TRUST names others: "user:1000,group:2000", or "all" where nobody else uses the machine.
//
// Any thread. The functions ask the system for users and groups only when a group may write.
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

  // Of this process and its environment. An error says what of ATTUNE_TRUST is not understood.
  static Result<Trust> of_process();
};

// Adds what the value of ATTUNE_TRUST says; empty: nothing.
Result<void> add_trust(std::string_view text, Trust& trust);

enum class PathPart {
  end,  // the file or folder that was asked for
  way   // a folder that only leads to it
};

// Why a file of this state is not trusted, with the part of ATTUNE_TRUST that would cure it; both
// empty: it is. `private_group`: nobody but trusted users is a member of the file's group.
struct Distrust {
  std::string why, cure;
};
Distrust why_untrusted(const struct stat& status, const Trust& trust, bool private_group,
                       PathPart part = PathPart::end);

// Of an open file or folder alone, where the way to it is known to be trusted. Errors of all
// functions name the path that is not trusted, and the cure.
Result<void> check_trusted(int fd, const std::string& path);

// That it belongs to a trusted user, whoever else may write there: of what a trial keeps in its own
// folder, and may have opened to others.
Result<void> check_owner(int fd, const std::string& path);

// Opens a file or folder that is there: open(2) with `flags`, close-on-exec. With O_NOFOLLOW a
// symbolic link in its place is an error. Nothing is opened, no FIFO waited for, that is not
// trusted.
Result<UniqueFd> open_trusted(const std::filesystem::path& path, int flags);
Result<void> check_trusted(const std::filesystem::path& path);

// The whole file, as read_file() (os/atomic_file.h).
Result<std::string> read_trusted_file(const std::filesystem::path& path,
                                      std::size_t limit = std::size_t{1} << 30);

}  // namespace attune
