#pragma once
// Keeps the best of a stream of results: one result, or the Pareto front.
#include <cstdint>
#include <map>
#include <vector>

#include "base/standing.h"

namespace attune {

// Which results it keeps:
// * one objective: the best result that keeps the limits; of equal ones the first;
// * several objectives: all results that keep the limits and that no other dominates (the
//   trade-offs), equal ones included;
// * no result keeps the limits yet: the one that violates them least (the smallest Standing).
// They are sorted by Standing: the best in the first objective comes first, equal ones in the order
// of their arrival.
//
// A value. offer() costs O(log leaders), amortised, with one or two objectives, and O(leaders) with
// more.
class Leaders {
 public:
  using Id = std::int64_t;

  struct Offered {
    bool leads = false;              // this result is kept
    std::vector<Id> overtaken = {};  // leaders until now, dropped by this result
  };
  // The caller chooses the ids. All standings must belong to one experiment: the same objectives
  // and limits, in the same order.
  Offered offer(Id id, Standing standing);

  bool empty() const { return leaders_.empty(); }
  bool keep_limits() const { return !empty() && best().violation == 0; }
  // The number of leaders, if there are several objectives and the leaders keep the limits;
  // otherwise 0.
  std::size_t trade_offs() const;

  // Not to be called when empty().
  const Standing& best() const { return leaders_.begin()->first; }
  Id best_id() const { return leaders_.begin()->second; }
  std::vector<Id> ids() const;

 private:
  Offered replace_all(Id id, Standing standing);

  std::multimap<Standing, Id> leaders_;
};

}  // namespace attune
