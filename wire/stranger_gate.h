#pragma once
// Which strangers a listener lets in: those who have not shown yet that they know a secret. There
// are places for so many of them, and for fewer from one address. While less than half of either
// are taken everybody gets in; from there on the chance of whoever comes falls in a straight line,
// to none when all are taken (random early drop). Nobody is sent away for somebody else: so a flood
// cannot push out who is in already, and whoever waits for a place to become free is not preferred
// to who comes by chance. No I/O, no clock.
#include <cstddef>
#include <map>
#include <string>

#include "base/rng.h"

namespace attune {

class StrangerGate {
 public:
  struct Places {
    std::size_t all = 0, each = 0;  // 2 or more; of all addresses, and of each
  };
  StrangerGate(const Places& places, const Rng& rng) : places_(places), rng_(rng) {}

  // Somebody comes from there. True: takes a place.
  bool admit(const std::string& address);
  void leave(const std::string& address);  // one of those who were let in

  // Half of the places are taken, or more: who takes long is to go.
  bool crowded() const { return 2 * taken_ >= places_.all; }
  bool crowded(const std::string& address) const { return 2 * taken(address) >= places_.each; }
  // That admit() says true.
  double chance(const std::string& address) const;

 private:
  std::size_t taken(const std::string& address) const;

  const Places places_;
  Rng rng_;
  std::size_t taken_ = 0;
  std::map<std::string, std::size_t> by_address_;  // only those that have any
};

}  // namespace attune
