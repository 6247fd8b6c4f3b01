#pragma once
// Which GPUs a trial gets: those that are free first, and of them those that were used least, so
// that trials spread over the devices. After rotate_gpus of Syne Tune's LocalBackend.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune {

// As CUDA_VISIBLE_DEVICES names it: a number ("0"), or a unique name ("GPU-<uuid>", "MIG-<uuid>").
using GpuName = std::string;

// Those that a worker may give to its trials, of the devices that were found: as many as it says
// that it has, the first ones; all, when it does not say. Where none was found, which not every
// kind of GPU is, those from 0 on. Errors: fewer were found; more than 1000.
Result<std::vector<GpuName>> devices_for(std::optional<double> count, std::vector<GpuName> found);

class GpuRotation {
 public:
  // `devices` in the order of preference. A device has room for `per_device` trials (at least 1;
  // nothing: any number); more than that share it only when nothing else is left.
  GpuRotation(std::vector<GpuName> devices, std::optional<double> per_device);

  // `count` devices, at most as many as there are; below 1 a share of one. A trial that has some
  // keeps them until release().
  std::vector<GpuName> assign(const std::string& trial, double count);
  // The same for a trial that has them already, from an earlier manager.
  void adopt(const std::string& trial, const std::vector<GpuName>& devices, double count);
  void release(const std::string& trial);  // one that has none is ignored

  const std::vector<GpuName>& devices() const { return devices_; }
  int times_assigned(const GpuName& device) const;

 private:
  struct Device {
    double load = 0;  // trials that have it; a share counts as its part
    int times = 0;    // trials that ever had it
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
