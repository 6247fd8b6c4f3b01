#include "trial/decision_wait.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "os/clock.h"
#include "os/unique_fd.h"

namespace attune {
namespace {

// Nothing: there is no such file. Opened anew each time, because a file system that machines share
// looks at the size on its server then.
std::optional<std::int64_t> size_of(const std::filesystem::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
  return status.st_size;
}

// Polls, because inotify does not see what another machine does, and a user may have few watches.
// The pause is a part of the time that has passed, so that it adds little to a wait of any length.
double pause_after(double seconds) { return std::clamp(seconds / 8, 50e-6, 20e-3); }

}  // namespace

void DecisionWait::wait_for(std::int64_t reports) {
  const SystemClock clock;
  const double begin = clock.now();
  while (const auto decided = size_of(answered_)) {
    if (*decided >= reports || decided == given_up_) return;
    const double waited = clock.now() - begin;
    if (waited >= patience_) {
      given_up_ = decided;
      return;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_after(waited)));
  }
}

}  // namespace attune
