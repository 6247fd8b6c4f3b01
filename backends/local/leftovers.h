#pragma once
// Finds and kills the processes of a trial whose shim was killed, or is to be killed.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "backends/report/spool_reader.h"

namespace attune {

// Its targets are all processes of this user that have the trial's variables in their environment
// ($NNI_SYS_DIR, $ATTUNE_ATTEMPT; the shim has them too), and the process group of the command, if
// its leader is still the process that the spool names. A process outside of that group that has
// removed these variables is not found.
class Leftovers {
 public:
  Leftovers(const std::filesystem::path& folder, int attempt, AttemptFacts facts);

  // Kills what it finds; reads all of /proc. Returns whether to look again after kPause: a process
  // that is in the middle of execve() has no environment for a moment, and may be a target. No
  // event reports the end of that moment.
  static constexpr std::chrono::milliseconds kPause{10};
  bool look();
  bool any() const { return any_; }  // whether it has found one

 private:
  const std::string where_, which_;
  const AttemptFacts facts_;
  int looks_ = 0;
  bool any_ = false;
};

// Looks until nothing is left, for callers who need the answer at once: whether there was a
// process. Blocks while processes are in the middle of execve(), up to half a second.
bool kill_leftovers(const std::filesystem::path& folder, int attempt, const AttemptFacts& facts);

// When the process was started, in ticks since the boot (/proc/PID/stat); 0: it does not exist.
std::uint64_t process_start_time(pid_t pid);

// The seconds since the shim of an attempt was started; nothing if unknown, for example because
// that was before this boot.
std::optional<double> seconds_since_start(const AttemptFacts& facts);

}  // namespace attune
