// Prepares the checkpoint directory before the command starts: empty, or with the content of a
// checkpoint.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "backends/report/spool.h"
#include "backends/shim/supervisor.h"

namespace attune::shim {
namespace {

// Removes what an earlier attempt left. Neither rm nor find follows links. If directories may not
// be read, the owner must first give himself the right to, and only then can remove their content.
constexpr char kClear[] = R"(
PATH=/usr/bin:/bin
rm -rf -- "$1" 2> /dev/null && exit
find "$1" -type d ! -perm -700 -exec chmod u+rwx -- {} \;
rm -rf -- "$1")";

}  // namespace

void Supervisor::prepare_checkpoint() {
  const std::string folder = options_.folder + "/checkpoint";
  struct stat there = {};
  if (options_.keep_checkpoint && ::lstat(folder.c_str(), &there) == 0 && S_ISDIR(there.st_mode))
    return run_command();
  ::rmdir(folder.c_str());  // an empty one of an earlier attempt
  if (::mkdir(folder.c_str(), 0700) == 0) {
    restore_or_run();
  } else {
    const char* const arguments[] = {"/bin/sh", "-c", kClear, "sh", folder.c_str(), nullptr};
    phase_ = Phase::clearing;
    spawn(const_cast<char* const*>(arguments), false);
  }
}

void Supervisor::restore_or_run() {
  if (options_.restore.empty()) {
    run_command();
    return;
  }
  const std::string from = options_.restore + "/.";
  const std::string to = options_.folder + "/checkpoint/";
  const char* const arguments[] = {"/bin/cp",    "-a",       "--reflink=auto", "--",
                                   from.c_str(), to.c_str(), nullptr};
  phase_ = Phase::restoring;
  spawn(const_cast<char* const*>(arguments), false);
}

void Supervisor::on_helper_end(bool well) {
  if (!well && phase_ == Phase::clearing) {
    give_up("what an earlier attempt left in " + options_.folder +
            "/checkpoint could not be removed: " + reason());
  } else if (!well && lacks_room()) {
    if (!std::exchange(told_room_, true))
      spool_.append(spool::kProblem, "its checkpoint waits for room on the disk");
    phase_ = Phase::waiting;
  } else if (!well) {
    give_up("the checkpoint " + options_.restore + " could not be copied: " + reason());
  } else if (phase_ == Phase::restoring) {
    run_command();
  } else if (::mkdir((options_.folder + "/checkpoint").c_str(), 0700) == 0) {
    restore_or_run();
  } else {
    give_up("cannot make " + options_.folder + "/checkpoint: " + strerror(errno));
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
