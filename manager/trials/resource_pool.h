#pragma once
// Counts which resources running trials use, and says whether another trial fits. After Ray Tune's
// has_resources() and queue_trials.
#include <string>

#include "backends/resources.h"

namespace attune {

class ResourcePool {
 public:
  // With `queue_trials` a trial already fits if something of each kind that it asks for is free, be
  // it too little. This is for clusters that grow on demand, and for amounts that are estimates.
  explicit ResourcePool(Resources capacity = {}, bool queue_trials = false)
      : capacity_(std::move(capacity)), queue_trials_(queue_trials) {}

  // Whether the request may start now. Kinds that it asks nothing of do not matter.
  bool fits(const Resources& request) const;
  // Whether `request` would fit if no other trial ran.
  bool possible(const Resources& request) const;
  // Takes and gives back. commit() does not check fits(); release() what was committed before.
  void commit(const Resources& request) { add(request, 1); }
  void release(const Resources& request) { add(request, -1); }

  const Resources& capacity() const { return capacity_; }
  const Resources& committed() const { return committed_; }

  // "cpu: 8 wanted, 3 of 4 free": each kind that is short. Empty when it fits.
  std::string shortage(const Resources& request) const;

 private:
  void add(const Resources& request, double sign);

  Resources capacity_, committed_;
  bool queue_trials_;
};

// "2 cpu, 1 gpu, 4e+09 bytes memory, 1 licence"; "nothing" when all are 0.
std::string to_text(const Resources& resources);

}  // namespace attune
