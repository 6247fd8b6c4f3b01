#pragma once
// Reads information about processes from /proc.
#include <sys/types.h>

#include <cstdint>

namespace attune {

// When the process was started, in clock ticks since the boot (/proc/PID/stat, field 22); 0: it
// does not exist. Together with the pid it identifies a process until the next boot.
std::uint64_t start_time(pid_t pid);

struct Killing {
  int killed = 0;     // processes that got SIGKILL
  int forbidden = 0;  // processes of another user
};
// Sends SIGKILL to every living process below `ancestor`, but not to `ancestor`. It misses a
// process that is forked meanwhile: call it again until there is none.
Killing kill_descendants(pid_t ancestor);

}  // namespace attune
