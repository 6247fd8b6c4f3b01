#pragma once
// How long a call waits for another process that holds the store.
#include <functional>
#include <utility>

namespace attune {

class BusyWait {
 public:
  // The call fails when it has waited for so long. With `goes_on` that decides from then on: it is
  // asked again and again, some ten times a second, on the thread of the call, and the call fails
  // once it says no.
  BusyWait(double seconds, std::function<bool()> goes_on = nullptr)
      : seconds_(seconds), goes_on_(std::move(goes_on)) {}

  // Called by what waits, each time that the store was held again: lets some time pass, of which
  // `waited` is the sum; false when it is over. Locks tell nobody of their end, so that there is
  // nothing else to wait for.
  bool pause(double& waited) const;

 private:
  double seconds_;
  std::function<bool()> goes_on_;
};

}  // namespace attune
