#pragma once
// The time of a coordinator, which continues over restarts. The coordinator stores times and
// computes deadlines from them, so its time must not jump when somebody sets the clock or while the
// coordinator is down.
#include <filesystem>
#include <string>

#include "base/result.h"
#include "os/clock.h"

namespace attune {

inline constexpr const char* kTimeFile = "time.json";

// The time at which a coordinator begins, in seconds since 1970-01-01 UTC, approximately. If an
// earlier coordinator began in the same boot of the machine: its time then plus the seconds since.
// Otherwise the wall clock, because Clock::now() begins anew with each boot. Never before `newest`,
// the newest time that the coordinator remembers. `boot` identifies the boot (present_boot());
// empty: unknown.
//
// Writes `directory`/time.json for the next start. A time.json that cannot be read counts as one of
// another boot.
Result<double> time_at_begin(const std::filesystem::path& directory, const Clock& clock,
                             const std::string& boot, double newest);

// The id of this machine's present boot, from /proc/sys/kernel/random/boot_id; empty: unknown.
std::string present_boot();

}  // namespace attune
