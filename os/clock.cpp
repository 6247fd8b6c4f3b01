#include "os/clock.h"

#include <time.h>

#include <chrono>

namespace attune {

double SystemClock::now() const {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);  // steady_clock stands still while the machine sleeps
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double SystemClock::wall() const {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace attune
