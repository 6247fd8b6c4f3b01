#pragma once
// What /proc knows of processes.
#include <sys/types.h>

#include <cstdint>

namespace attune::shim {

// When the process was started, in clock ticks since the boot (/proc/PID/stat, field 22); 0: there
// is none. With the pid it names one process until the next boot.
std::uint64_t start_time(pid_t pid);

struct Killing {
  int killed = 0;     // processes that were sent SIGKILL
  int forbidden = 0;  // that belong to another user
};
// Sends SIGKILL to every living process below `ancestor`, itself not included. A process that is
// forked meanwhile is missed: call it again until there is none.
Killing kill_descendants(pid_t ancestor);

}  // namespace attune::shim
