#pragma once
// The time of a coordinator, over all of its lives. What it remembers has times, and what is due is
// computed from them, so they must not jump when somebody sets the clock, nor while it is down.
#include <filesystem>
#include <string>

#include "base/result.h"
#include "os/clock.h"

namespace attune {

inline constexpr const char* kTimeFile = "time.json";

// What time it is when a life begins, in seconds since 1970-01-01 UTC or nearly: within one boot of
// the machine what a former life has begun with, counted on; a boot is named by `boot`. After
// another boot nobody has counted, and the wall clock is all there is; but never before `newest`,
// the newest time that is remembered. Writes `directory`/time.json for the next life; what that
// holds, if it is no such file, counts as another boot.
Result<double> time_at_begin(const std::filesystem::path& directory, const Clock& clock,
                             const std::string& boot, double newest);

// Of this machine: /proc/sys/kernel/random/boot_id.
std::string present_boot();

}  // namespace attune
