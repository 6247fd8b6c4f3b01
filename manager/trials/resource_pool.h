#pragma once
// Who uses how much of what. After Ray Tune's has_resources() and queue_trials.
#include <string>

#include "backends/resources.h"

namespace attune {

class ResourcePool {
 public:
  // With `queue_trials` one trial too many may start while something of every kind that it asks for
  // is free: where the cluster grows on demand, or amounts are only estimates.
  explicit ResourcePool(Resources capacity = {}, bool queue_trials = false)
      : capacity_(std::move(capacity)), queue_trials_(queue_trials) {}

  // A kind of which nothing is asked for never holds a trial back.
  bool fits(const Resources& request) const;
  // Whether `request` could fit if nothing else ran.
  bool possible(const Resources& request) const;
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
