#include "wire/stranger_gate.h"

#include <algorithm>

#include "base/check.h"

namespace attune {
namespace {

double chance_of(std::size_t taken, std::size_t places) {
  const auto half = static_cast<double>(places) / 2;
  const double free = static_cast<double>(places) - static_cast<double>(taken);
  return std::clamp(free / half, 0.0, 1.0);
}

}  // namespace

std::size_t StrangerGate::taken(const std::string& address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? 0 : found->second;
}

double StrangerGate::chance(const std::string& address) const {
  return std::min(chance_of(taken_, places_.all), chance_of(taken(address), places_.each));
}

bool StrangerGate::admit(const std::string& address) {
  if (rng_.uniform() >= chance(address)) return false;
  ++taken_;
  ++by_address_[address];
  return true;
}

void StrangerGate::leave(const std::string& address) {
  const auto found = by_address_.find(address);
  ATTUNE_CHECK(found != by_address_.end() && taken_ > 0);
  --taken_;
  if (--found->second == 0) by_address_.erase(found);
}

}  // namespace attune
