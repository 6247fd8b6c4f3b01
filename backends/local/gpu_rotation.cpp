#include "backends/local/gpu_rotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace attune {
namespace {

void add_new(std::vector<GpuName>& devices, const GpuName& device) {
  if (std::ranges::find(devices, device) == devices.end()) devices.push_back(device);
}

}  // namespace

Result<std::vector<GpuName>> devices_for(std::optional<double> count, std::vector<GpuName> found) {
  constexpr double kMost = 1000;
  if (!count) return found;
  const double wanted = std::ceil(*count);
  if (!(wanted >= 0 && wanted <= kMost))
    return fail(fmt::format("{} GPUs: 0 to {} are possible", *count, kMost));
  const auto size = static_cast<std::size_t>(wanted);
  if (found.empty()) {
    for (std::size_t i = 0; i < size; ++i) found.push_back(fmt::format("{}", i));
  }
  if (size > found.size())
    return fail(
        fmt::format("{} GPUs are asked for, and this machine has {}", *count, found.size()));
  found.resize(size);
  return found;
}

GpuRotation::GpuRotation(std::vector<GpuName> devices, std::optional<double> per_device)
    : devices_(std::move(devices)), per_device_(per_device) {
  for (const GpuName& device : devices_) state_[device];
}

std::vector<GpuName> GpuRotation::assign(const std::string& trial, double count) {
  for (const Assignment& assignment : assigned_) {
    if (assignment.trial == trial) return assignment.devices;
  }
  // A trial with a fraction of a device loads it by that fraction, a trial with several devices
  // loads each fully.
  const double share = std::min(count, 1.0);
  const auto wanted = std::min(static_cast<std::size_t>(std::ceil(count)), devices_.size());
  std::vector<GpuName> free, with_room, others;
  for (const GpuName& device : devices_) {
    if (state_[device].load == 0) free.push_back(device);
  }
  // In the order of assignment: the trial that began first is the likeliest to end next.
  for (const Assignment& assignment : assigned_) {
    for (const GpuName& device : assignment.devices) {
      const bool room = !per_device_ || state_[device].load + share <= *per_device_ + 1e-9;
      add_new(room ? with_room : others, device);
    }
  }
  const auto less_used = [this](const GpuName& a, const GpuName& b) {
    return state_[a].times < state_[b].times;
  };
  std::ranges::stable_sort(free, less_used);
  // Shares go to a device that is in use before they take a free one, because a trial may need a
  // whole device.
  std::vector<std::vector<GpuName>*> order = {&free, &with_room, &others};
  if (share < 1) std::swap(order[0], order[1]);

  Assignment assignment{trial, {}, share};
  for (std::vector<GpuName>* group : order) {
    const std::size_t size = std::min(group->size(), wanted - assignment.devices.size());
    group->resize(size);
    std::ranges::stable_sort(*group, less_used);
    assignment.devices.insert(assignment.devices.end(), group->begin(), group->end());
  }
  take(assignment);
  return assignment.devices;
}

void GpuRotation::adopt(const std::string& trial, const std::vector<GpuName>& devices,
                        double count) {
  Assignment assignment{trial, {}, std::min(count, 1.0)};
  for (const GpuName& device : devices) {
    if (state_.contains(device)) assignment.devices.push_back(device);
  }
  take(std::move(assignment));
}

void GpuRotation::take(Assignment assignment) {
  for (const GpuName& device : assignment.devices) {
    state_[device].load += assignment.share;
    ++state_[device].times;
  }
  assigned_.push_back(std::move(assignment));
}

void GpuRotation::release(const std::string& trial) {
  const auto found = std::ranges::find(assigned_, trial, &Assignment::trial);
  if (found == assigned_.end()) return;
  for (const GpuName& device : found->devices) {
    double& load = state_[device].load;
    load = std::max(0.0, load - found->share);
    // Sums of shares such as 0.1 leave rounding errors, but a free device must have a load of
    // exactly 0.
    if (load < 1e-9) load = 0;
  }
  assigned_.erase(found);
}

int GpuRotation::times_assigned(const GpuName& device) const {
  const auto found = state_.find(device);
  return found == state_.end() ? 0 : found->second.times;
}

}  // namespace attune
