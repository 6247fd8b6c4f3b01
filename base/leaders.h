#pragma once
// Of results that come one after the other, those that lead.
#include <cstdint>
#include <map>
#include <vector>

#include "base/standing.h"

namespace attune {

// With one objective the best result, the first of equal ones. With several all that keep the
// limits and that no other dominates (equal ones, too): the trade-offs. While no result keeps the
// limits, the one that is nearest to it. By Standing, so that the best in the first objective comes
// first, and equal ones in the order in which they came.
//
// A value. To offer costs O(log leaders), amortised, with one or two objectives, and O(leaders)
// with more.
class Leaders {
 public:
  using Id = std::int64_t;

  struct Offered {
    bool leads = false;
    std::vector<Id> overtaken = {};  // that lead no more
  };
  // Ids are the caller's. Standings of one experiment.
  Offered offer(Id id, Standing standing);

  bool empty() const { return leaders_.empty(); }
  bool keep_limits() const { return !empty() && best().violation == 0; }
  // All leaders, if they are that: several objectives, and the limits kept.
  std::size_t trade_offs() const;

  // When there is one.
  const Standing& best() const { return leaders_.begin()->first; }
  Id best_id() const { return leaders_.begin()->second; }
  std::vector<Id> ids() const;

 private:
  Offered replace_all(Id id, Standing standing);

  std::multimap<Standing, Id> leaders_;
};

}  // namespace attune
