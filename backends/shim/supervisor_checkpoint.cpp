// Prepares the checkpoint directory before the command starts: empty, or with the content of a
// checkpoint. Whoever looks at it meanwhile, or after we were killed, finds it whole, or finds
// none: what an earlier attempt left is renamed before it is removed, and the copy of a checkpoint
// gets its name when it is complete. Else a manager could take half a copy for the trial's newest
// checkpoint.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "backends/checkpoint_folders.h"
#include "backends/report/spool.h"
#include "backends/shim/supervisor.h"

namespace attune::shim {
namespace {

// Removes all three: CheckpointFolders' $1: current, $2: old, $3: draft. Neither rm nor find
// follows links. If directories may not be read, the owner must first give himself the right to,
// and only then can remove their content.
constexpr char kClear[] = R"(
PATH=/usr/bin:/bin
clear() {
  rm -rf -- "$1" 2> /dev/null && return
  find "$1" -type d ! -perm -700 -exec chmod u+rwx -- {} \;
  rm -rf -- "$1"
}
clear "$2" && clear "$3" || exit
[ ! -e "$1" ] && [ ! -L "$1" ] || { mv -T -- "$1" "$2" && clear "$2"; })";

// Nothing: it is not there. A link is not followed.
std::optional<mode_t> mode_of(const std::string& path) {
  struct stat there = {};
  if (::lstat(path.c_str(), &there) != 0) return std::nullopt;
  return there.st_mode;
}

}  // namespace

void Supervisor::prepare_checkpoint() {
  const CheckpointFolders folders(options_.folder);
  const std::optional<mode_t> there = mode_of(folders.current);
  if (options_.keep_checkpoint && there && S_ISDIR(*there)) return run_command();
  ::rmdir(folders.current.c_str());  // an empty one of an earlier attempt
  // This fails if a killed shim left an old one; then kClear does it.
  ::rename(folders.current.c_str(), folders.old.c_str());
  if (!mode_of(folders.current) && !mode_of(folders.old) && !mode_of(folders.draft))
    return restore_or_run();
  const char* const arguments[] = {"/bin/sh",
                                   "-c",
                                   kClear,
                                   "sh",
                                   folders.current.c_str(),
                                   folders.old.c_str(),
                                   folders.draft.c_str(),
                                   nullptr};
  phase_ = Phase::clearing;
  spawn(const_cast<char* const*>(arguments), false);
}

void Supervisor::restore_or_run() {
  const CheckpointFolders folders(options_.folder);
  const std::string& made = options_.restore.empty() ? folders.current : folders.draft;
  if (::mkdir(made.c_str(), 0700) != 0)
    return give_up("cannot make " + made + ": " + strerror(errno));
  if (options_.restore.empty()) return run_command();
  const std::string from = options_.restore + "/.";
  const std::string to = made + "/";
  const char* const arguments[] = {"/bin/cp",    "-a",       "--reflink=auto", "--",
                                   from.c_str(), to.c_str(), nullptr};
  phase_ = Phase::restoring;
  spawn(const_cast<char* const*>(arguments), false);
}

void Supervisor::on_helper_end(bool well) {
  const CheckpointFolders folders(options_.folder);
  if (!well && phase_ == Phase::clearing) {
    give_up("what an earlier attempt left in " + folders.current +
            " could not be removed: " + reason());
  } else if (!well && lacks_room()) {
    if (!std::exchange(told_room_, true))
      spool_.append(spool::kProblem, "its checkpoint waits for room on the disk");
    phase_ = Phase::waiting;
  } else if (!well) {
    give_up("the checkpoint " + options_.restore + " could not be copied: " + reason());
  } else if (phase_ == Phase::clearing) {
    restore_or_run();
  } else if (::rename(folders.draft.c_str(), folders.current.c_str()) == 0) {
    run_command();
  } else {
    give_up("cannot rename " + folders.draft + ": " + strerror(errno));
  }
}

// Whether cp failed because the disk is full; it gives the reason in its last line.
bool Supervisor::lacks_room() const {
  const std::string said = reason();
  return std::ranges::any_of(std::array{ENOSPC, EDQUOT, EFBIG},
                             [&](int error) { return said.ends_with(strerror(error)); });
}

// Starts from the beginning, because the copy is incomplete.
void Supervisor::try_again() {
  alone_ = false;
  prepare_checkpoint();
}

void Supervisor::give_up(const std::string& what) {
  phase_ = Phase::ending;
  spool_.append(spool::kRestore, what);
  sweep();
}

std::string Supervisor::reason() const {
  std::string text = err_.recent();
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace attune::shim
