#include "manager/trials/resource_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace attune {
namespace {

// Sums of fractions such as 0.1 are not exact.
constexpr double kSlack = 1e-9;

double amount(const std::map<std::string, double>& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

struct Kind {
  std::string name;
  double wanted, capacity, committed;

  double free() const { return capacity - committed; }
  bool fits() const { return wanted <= free() + kSlack; }
};

std::vector<Kind> kinds(const Resources& wanted, const Resources& capacity,
                        const Resources& committed) {
  std::vector<Kind> result;
  const auto add = [&](const std::string& name, double w, double all, double used) {
    if (w > 0) result.push_back({name, w, all, used});
  };
  add("cpu", wanted.cpu, capacity.cpu, committed.cpu);
  add("gpu", wanted.gpu, capacity.gpu, committed.gpu);
  add("memory", wanted.memory, capacity.memory, committed.memory);
  for (const auto& [name, value] : wanted.custom)
    add(name, value, amount(capacity.custom, name), amount(committed.custom, name));
  return result;
}

}  // namespace

bool ResourcePool::fits(const Resources& request) const {
  const auto all = kinds(request, capacity_, committed_);
  if (std::ranges::all_of(all, &Kind::fits)) return true;
  return queue_trials_ && std::ranges::all_of(all, [](const Kind& k) { return k.free() > kSlack; });
}

bool ResourcePool::possible(const Resources& request) const {
  return ResourcePool(capacity_, queue_trials_).fits(request);
}

void ResourcePool::add(const Resources& request, double sign) {
  // A rest of rounding must not look like a resource that is in use.
  const auto change = [&](double& value, double by) {
    value += sign * by;
    if (value < kSlack) value = 0;
  };
  change(committed_.cpu, request.cpu);
  change(committed_.gpu, request.gpu);
  change(committed_.memory, request.memory);
  for (const auto& [name, value] : request.custom) change(committed_.custom[name], value);
}

std::string ResourcePool::shortage(const Resources& request) const {
  std::string text;
  for (const Kind& kind : kinds(request, capacity_, committed_)) {
    if (kind.fits()) continue;
    text += fmt::format("{}{}: {:.6g} wanted, {:.6g} of {:.6g} free", text.empty() ? "" : "; ",
                        kind.name, kind.wanted, std::max(kind.free(), 0.0), kind.capacity);
  }
  return text;
}

std::string to_text(const Resources& resources) {
  std::string text;
  for (const Kind& kind : kinds(resources, {}, {})) {
    text += fmt::format("{}{:.6g} {}", text.empty() ? "" : ", ", kind.wanted,
                        kind.name == "memory" ? "bytes memory" : kind.name);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace attune
