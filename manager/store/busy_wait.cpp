#include "manager/store/busy_wait.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace attune {
namespace {

constexpr double kShortest = 0.001, kLongest = 0.1;  // seconds

}  // namespace

bool BusyWait::pause(double& waited) const {
  const bool over = waited >= seconds_;
  if (over && (!goes_on_ || !goes_on_())) return false;
  // Most holders need some milliseconds. So the first pauses are short, and later ones as long as
  // all before together.
  double pause = std::clamp(waited, kShortest, kLongest);
  if (!over) pause = std::min(pause, seconds_ - waited);
  std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  waited += pause;
  return true;
}

}  // namespace attune
