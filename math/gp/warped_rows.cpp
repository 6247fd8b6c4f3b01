#include "math/gp/warped_rows.h"

#include <algorithm>
#include <cmath>

namespace attune {

WarpedRows::WarpedRows(const std::vector<std::size_t>& categories)
    : given_(categories), bent_(categories), weights_(categories.size(), 1.0) {}

void WarpedRows::set(const KernelParameters& parameters) {
  warps_ = parameters.warps;
  for (std::size_t d = 0; d < dimensions(); ++d) weights_[d] = std::exp(parameters.log_weights[d]);
  bent_.resize(0);
  if (warps_.empty()) return;
  for (std::size_t i = 0; i < size(); ++i) bent_.append(seen(given_.row(i)));
}

void WarpedRows::append(std::span<const double> row) {
  given_.append(row);
  if (!warps_.empty()) bent_.append(seen(row));
}

void WarpedRows::resize(std::size_t size) {
  given_.resize(size);
  if (!warps_.empty()) bent_.resize(size);
}

std::vector<double> WarpedRows::seen(std::span<const double> row) const {
  std::vector<double> x(row.begin(), row.end());
  for (std::size_t d = 0; d < warps_.size(); ++d) {
    if (given_.is_position(d)) x[d] = warped(warps_[d], given_.imputed(d, x[d])).value;
  }
  return x;
}

double WarpedRows::slope(std::size_t d, double x) const {
  return warps_.empty() ? 1 : warped(warps_[d], given_.imputed(d, x)).by_x;
}

Warped WarpedRows::bent(std::size_t i, std::size_t d) const {
  return warped(warps_[d], given_.at(i, d));
}

}  // namespace attune
