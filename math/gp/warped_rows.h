#pragma once
// The rows of a model as its kernel sees them: positions may be warped, dimensions have weights.
#include <span>
#include <vector>

#include "math/gp/kernel_parameters.h"
#include "math/gp/mixed_rows.h"

namespace attune {

// A value. Not thread safe. Conditions as in MixedRows.
class WarpedRows {
 public:
  explicit WarpedRows(const std::vector<std::size_t>& categories);

  // Warps and weights. O(size() dimensions()).
  void set(const KernelParameters& parameters);
  void append(std::span<const double> row);
  void resize(std::size_t size);  // to fewer

  std::size_t size() const { return given_.size(); }
  std::size_t dimensions() const { return given_.dimensions(); }
  const MixedRows& given() const { return given_; }
  // What the kernel compares.
  const MixedRows& seen() const { return warps_.empty() ? given_ : bent_; }
  std::vector<double> seen(std::span<const double> row) const;
  // Derivative by a position of what the kernel compares.
  double slope(std::size_t d, double x) const;
  // Of row i in a dimension of positions. There are warps.
  Warped bent(std::size_t i, std::size_t d) const;
  double weight(std::size_t d) const { return weights_[d]; }

  // out[i]: weighted squared distance of x, as the kernel sees it, to row from + i.
  void squares(std::span<const double> x, std::size_t from, std::span<double> out) const;

 private:
  MixedRows given_, bent_;  // without warps the latter has no rows
  std::vector<Warp> warps_;
  std::vector<double> weights_;
};

}  // namespace attune
