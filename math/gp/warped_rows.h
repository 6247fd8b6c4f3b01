#pragma once
// The rows of a model as its kernel sees them: positions may be warped, and each dimension has a
// weight.
#include <span>
#include <vector>

#include "math/gp/kernel_parameters.h"
#include "math/gp/mixed_rows.h"

namespace attune {

// A value. Not thread safe. The requirements of MixedRows hold.
class WarpedRows {
 public:
  explicit WarpedRows(const std::vector<std::size_t>& categories);

  // Sets warps and weights; O(size() dimensions()).
  void set(const KernelParameters& parameters);
  void append(std::span<const double> row);
  void resize(std::size_t size);  // to fewer

  std::size_t size() const { return given_.size(); }
  std::size_t dimensions() const { return given_.dimensions(); }
  const MixedRows& given() const { return given_; }
  // The rows as the kernel compares them: warped, if there are warps.
  const MixedRows& seen() const { return warps_.empty() ? given_ : bent_; }
  std::vector<double> seen(std::span<const double> row) const;
  // The derivative of the warped position by the position.
  double slope(std::size_t d, double x) const;
  // The warped position of row i. Dimension d must be a position, and there must be warps.
  Warped bent(std::size_t i, std::size_t d) const;
  double weight(std::size_t d) const { return weights_[d]; }
  const std::vector<double>& weights() const { return weights_; }

  // out[i]: weighted squared distance of x, as the kernel sees it, to row from + i.
  void squares(std::span<const double> x, std::size_t from, std::span<double> out) const {
    seen().squares(x, weights_, from, out);
  }

 private:
  MixedRows given_, bent_;  // bent_ is empty without warps
  std::vector<Warp> warps_;
  std::vector<double> weights_;
};

}  // namespace attune
