#pragma once
// What is left of a trial whose shim was killed, or is to be.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "backends/report/spool_reader.h"

namespace attune {

// Every process of ours that has the trial's variables in its environment ($NNI_SYS_DIR,
// $ATTUNE_ATTEMPT; the shim has them too), and the process group of the command if that is still
// the process that the spool names. A process that runs without these variables, outside of that
// group, is not found.
class Leftovers {
 public:
  Leftovers(const std::filesystem::path& folder, int attempt, AttemptFacts facts);

  // Kills what there is; reads all of /proc meanwhile. Whether to look again after kPause: a
  // process that is executing another program has no environment for a moment, and may be one of
  // these. No event tells of the end of that.
  static constexpr std::chrono::milliseconds kPause{10};
  bool look();
  bool any() const { return any_; }  // there was one

 private:
  const std::string where_, which_;
  const AttemptFacts facts_;
  int looks_ = 0;
  bool any_ = false;
};

// The same to the end, where the answer cannot wait: whether there was one. Blocks for as long as
// processes are executing another program, up to half a second.
bool kill_leftovers(const std::filesystem::path& folder, int attempt, const AttemptFacts& facts);

// When the process was started, in ticks since the boot (/proc/PID/stat); 0: there is none.
std::uint64_t process_start_time(pid_t pid);

// For how many seconds the shim of an attempt runs, or would run; nothing: unknown, as of one that
// was started before this boot.
std::optional<double> seconds_since_start(const AttemptFacts& facts);

}  // namespace attune
