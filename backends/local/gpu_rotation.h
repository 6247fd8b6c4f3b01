#pragma once
// Chooses the GPUs of a trial: free ones first, and of these the ones that were used least, so that
// trials spread over the devices. After rotate_gpus of Syne Tune's LocalBackend.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune {

// The name of a GPU in CUDA_VISIBLE_DEVICES: a number ("0"), or a unique name ("GPU-<uuid>",
// "MIG-<uuid>").
using GpuName = std::string;

// The devices that a worker may give to its trials: the first `count` of those that were found, or
// all if there is no `count`. If none was found (not every kind of GPU can be found), the numbers
// from 0 on. Errors: fewer than `count` were found; `count` is above 1000.
Result<std::vector<GpuName>> devices_for(std::optional<double> count, std::vector<GpuName> found);

class GpuRotation {
 public:
  // `devices`: in the order of preference. `per_device`: for how many trials a device has room (at
  // least 1; nothing: any number). More trials share a device only if no other has room.
  GpuRotation(std::vector<GpuName> devices, std::optional<double> per_device);

  // Gives `count` devices to a trial, at most as many as there are; a `count` below 1 is a share of
  // one device. A trial that has devices already keeps them.
  std::vector<GpuName> assign(const std::string& trial, double count);
  // Records the devices that a trial has from an earlier manager.
  void adopt(const std::string& trial, const std::vector<GpuName>& devices, double count);
  void release(const std::string& trial);  // ignored if it has none

  const std::vector<GpuName>& devices() const { return devices_; }
  int times_assigned(const GpuName& device) const;

 private:
  struct Device {
    double load = 0;  // trials that have it; a share counts as a fraction
    int times = 0;    // assignments until now
  };
  struct Assignment {
    std::string trial;
    std::vector<GpuName> devices;
    double share = 1;
  };

  void take(Assignment assignment);

  std::vector<GpuName> devices_;
  std::optional<double> per_device_;
  std::map<GpuName, Device> state_;
  std::vector<Assignment> assigned_;  // in the order of assignment; about as many as devices
};

}  // namespace attune
