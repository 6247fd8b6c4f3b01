#pragma once
// The observed values of one parameter and their losses, for univariate TPE. They are kept in the
// two orders that each suggestion needs, so that a suggestion neither sorts nor copies them.
//
// An insertion costs two short binary searches, and moving what lies behind (10^4 observations: a
// few microseconds). A split is one pass.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "math/density/parzen.h"

namespace attune {

// The value of a running trial. `order` counts the pending values of one parameter from 0, oldest
// first.
struct PendingValue {
  double value = 0;
  std::uint32_t order = 0;
  auto operator<=>(const PendingValue&) const = default;
};

// Not thread safe. At most 2^32 - 1 values, finite, with finite losses.
class RankedValues {
 public:
  // Adds observations; equal losses keep their order of arrival. insert_all() sorts if there are
  // many: one by one, each would move all that are there.
  void insert(double value, double loss);
  void insert_all(std::span<const double> values, std::span<const double> losses);
  std::size_t size() const { return values_.size(); }

  // values() is ascending by (value, rank). ranks()[i] is the place of values()[i] in the order of
  // losses.
  const std::vector<double>& values() const { return values_; }
  const std::vector<std::uint32_t>& ranks() const { return ranks_; }
  const std::vector<double>& losses() const { return losses_; }  // ascending

  // values_by_loss(): the values in the order of their losses, for saving. restore() is its
  // inverse; `losses` must be ascending and have the same size.
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

// Splits into good values and the rest, as NNI's TPE does. Of n values, the min(ceil(gamma
// sqrt(n)), forgetting) with the lowest losses are `below`. The weights depend on the rank among
// the k values of a side. If k <= forgetting, all are 1. Otherwise they rise linearly from 1/k to
// 1, and are 1 for the last `forgetting`. (By the rank of the loss, not by age as in the paper.)
//
// `pending` must be sorted. Pending values take part as if their loss were `lie`, after
// observations with this loss. `result` is overwritten, and its memory used again: with 10^4
// values, fresh memory would cost half as much again.
void split(const RankedValues& observed, std::span<const PendingValue> pending, double lie,
           const SplitRule& rule, Split& result);

}  // namespace attune
