#pragma once
// Whether the kernel killed something for lack of memory.
#include <cstdint>
#include <string>

namespace attune::shim {

// The file to read: `chosen` if it is not empty; else memory.events (cgroup v2) or
// memory.oom_control (v1) of this process's cgroup; else /proc/vmstat, which counts for the whole
// machine.
std::string oom_file(const std::string& chosen);

// The number in the line "oom_kill N" of the file; 0 if there is none.
std::uint64_t oom_kills(const std::string& file);

}  // namespace attune::shim
