#pragma once
// What TPE knows of one parameter: its observed values with their losses, kept in the two orders
// that each suggestion needs, so that none has to sort or copy them.
//
// Insertion costs two short binary searches and moving what lies behind (10^4 observations: a few
// microseconds); a split is one pass.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "math/density/parzen.h"

namespace attune {

// A value without a result yet. `order` counts the pending values of one parameter from 0, oldest
// first.
struct PendingValue {
  double value = 0;
  std::uint32_t order = 0;
  auto operator<=>(const PendingValue&) const = default;
};

// Not thread safe. At most 2^32 - 1 values, finite, with finite losses.
class RankedValues {
 public:
  // Equal losses keep their order of arrival. Many at once cost a sort, as one by one they would
  // cost a move of all that is there for each.
  void insert(double value, double loss);
  void insert_all(std::span<const double> values, std::span<const double> losses);
  std::size_t size() const { return values_.size(); }

  // Ascending by (value, rank); ranks()[i] is the place of values()[i] in the order of losses.
  const std::vector<double>& values() const { return values_; }
  const std::vector<std::uint32_t>& ranks() const { return ranks_; }
  const std::vector<double>& losses() const { return losses_; }  // ascending

  // The values in the order of their losses, for saving; and back, `losses` ascending and of the
  // same size.
  std::vector<double> values_by_loss() const;
  static RankedValues restore(std::span<const double> values_by_loss, std::vector<double> losses);

 private:
  std::vector<double> values_;
  std::vector<std::uint32_t> ranks_;
  std::vector<double> losses_;
};

struct SplitRule {
  double gamma = 0.25;
  std::size_t forgetting = 25;  // >= 1
};

struct Split {
  WeightedPoints below, above;  // points ascending
};

// The good and the rest, as NNI's TPE has them: of n values the min(ceil(gamma sqrt(n)),
// forgetting) with the lowest losses are `below`. Weights, by rank among the k of one side: all 1
// when k <= forgetting; else rising linearly from 1/k to 1, and 1 for the last `forgetting`. (By
// rank of the loss and not by age as in the paper.) `pending`, sorted, take part as if their loss
// were `lie`, after observations with that loss.
// `result` is overwritten; its memory is used again: fresh pages cost half as much again at 10^4
// values.
void split(const RankedValues& observed, std::span<const PendingValue> pending, double lie,
           const SplitRule& rule, Split& result);

}  // namespace attune
