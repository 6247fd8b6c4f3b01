#pragma once
// The grid values of one parameter. Private to the room: see grid.h.
#include <cstdint>
#include <vector>

#include "space/space.h"

namespace attune {

// Discrete domains have all their values from the start; equal candidates once. A real begins with
// its median; split() halves the intervals between values. Each call gets the domain, which is not
// kept: a pointer would dangle in the copy of a Grid, and a domain may have many candidates.
//
// A real value is visited at most once, and an interval is forgotten when no value is left in it,
// so a rounded domain ends with every one of its values.
class GridAxis {
 public:
  explicit GridAxis(const Domain& domain);

  std::uint64_t size() const { return size_; }
  double value(const Domain& domain, std::uint64_t k) const;  // k < size()

  bool divisible() const { return !intervals_.empty(); }
  bool split(const Domain& domain);  // whether there is a new value

 private:
  // Between two probabilities; 0 and 1 are ends that were not visited.
  struct Interval {
    double left, right;
  };

  template <class Real>
  void keep(const Real& domain, const Interval& interval);
  template <class Real>
  void halve(const Real& domain, const Interval& interval);

  std::uint64_t size_ = 0;
  std::vector<std::size_t> candidates_;  // Choice: the first of equals
  std::vector<double> values_;           // reals
  std::vector<Interval> intervals_;      // reals
};

}  // namespace attune
