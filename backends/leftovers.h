#pragma once
// What is left of a trial whose shim was killed, or is to be.
#include <filesystem>
#include <optional>

#include "backends/spool_reader.h"

namespace attune {

// Kills every process of ours that has the trial's variables in its environment ($NNI_SYS_DIR,
// $ATTUNE_ATTEMPT; the shim has them too), and the process group of the command if that is still
// the process that the spool names. Blocks while it reads /proc, and up to half a second in all for
// processes that are executing another program; for the rare case only. A process that runs without
// these variables, outside of that group, is not found. Whether there was one.
bool kill_leftovers(const std::filesystem::path& folder, int attempt, const AttemptFacts& facts);

// When the process was started, in ticks since the boot (/proc/PID/stat); 0: there is none.
std::uint64_t process_start_time(pid_t pid);

// For how many seconds the shim of an attempt runs, or would run; nothing: unknown, as of one that
// was started before this boot.
std::optional<double> seconds_since_start(const AttemptFacts& facts);

}  // namespace attune
