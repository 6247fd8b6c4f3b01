#pragma once
// Decides which strangers a listener admits: connections that have not proven yet that they know a
// secret. There is a number of places for all of them, and a smaller one for each address.
//
// While less than half of either number is taken, everybody is admitted. Beyond that the chance of
// a newcomer falls linearly, to zero when all places are taken (random early drop). The gate takes
// no place away. Only the listener does, from strangers that take long while it is crowded(); so a
// flood cannot push out a handshake that goes on quickly. And a flood that retries as soon as a
// place is free has no better chance than anybody else, because admission is random. docs/wire.md,
// "Strangers", has the chances in a flood.
//
// No I/O, no clock. One thread.
#include <cstddef>
#include <map>
#include <string>

#include "base/rng.h"

namespace attune {

class StrangerGate {
 public:
  struct Places {
    std::size_t all = 0, each = 0;  // places in all, and for each address; at least 2
  };
  StrangerGate(const Places& places, const Rng& rng) : places_(places), rng_(rng) {}

  // A stranger comes from `address`. True: admitted; it has a place until leave().
  bool admit(const std::string& address);
  void leave(const std::string& address);  // once for each admitted stranger

  // At least half of the places are taken: the listener should drop strangers that take long.
  bool crowded() const { return 2 * taken_ >= places_.all; }
  bool crowded(const std::string& address) const { return 2 * taken(address) >= places_.each; }
  // The probability that admit() returns true, from 0 to 1.
  double chance(const std::string& address) const;

 private:
  std::size_t taken(const std::string& address) const;

  const Places places_;
  Rng rng_;
  std::size_t taken_ = 0;
  std::map<std::string, std::size_t> by_address_;  // only those that have any
};

}  // namespace attune
