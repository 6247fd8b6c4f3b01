#pragma once
// How long a call waits while another process holds the store: for a number of seconds, and then
// for as long as a function says.
#include <functional>
#include <utility>

namespace attune {

class BusyWait {
 public:
  // Without `goes_on` the call fails after `seconds`. With it, `goes_on` is called from then on
  // about ten times a second, on the thread of the call, and the call fails when it returns false.
  BusyWait(double seconds, std::function<bool()> goes_on = nullptr)
      : seconds_(seconds), goes_on_(std::move(goes_on)) {}

  // Whoever waits calls this after each try that found the store held. Sleeps for a moment, adds it
  // to `waited` (seconds; 0 at first), and returns true; returns false when the call must fail. It
  // has to sleep and try again: nobody is told when a lock becomes free.
  bool pause(double& waited) const;

 private:
  double seconds_;
  std::function<bool()> goes_on_;
};

}  // namespace attune
