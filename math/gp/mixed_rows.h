#pragma once
// Observed inputs of a model, and their squared distances: dimension by dimension, so that the
// arithmetic over many observations is what a processor is fast at.
#include <cstddef>
#include <span>
#include <vector>

namespace attune {

// A dimension is a position in [0, 1] (0) or one of so many categories. NaN: not active there.
//
// Squared distance of two values of a dimension: the squared difference of positions, 0 or 1 for
// equal or different categories. What is inactive is in the centre of the positions, or in a
// category of its own; the choice that decides about activity tells it from what is active.
// (Distance 0 to everything that is active would be no distance: kernels of it are indefinite.)
class MixedRows {
 public:
  explicit MixedRows(std::vector<std::size_t> categories);

  std::size_t dimensions() const { return categories_.size(); }
  std::size_t size() const { return size_; }
  bool is_position(std::size_t d) const { return categories_[d] == 0; }

  void append(std::span<const double> row);  // dimensions() numbers
  void resize(std::size_t size);             // to fewer
  double at(std::size_t i, std::size_t d) const { return columns_[d][i]; }
  std::vector<double> row(std::size_t i) const;   // imputed
  double imputed(std::size_t d, double x) const;  // what stands for a value, or for NaN
  double mean_active() const;                     // how many dimensions are, in an average row

  // out[i] += weight * squared distance in dimension d of x and row from + i.
  void add_squares(std::size_t d, double x, double weight, std::size_t from,
                   std::span<double> out) const;

  // Sum over i of a[i] * squared distance in dimension d of x and row from + i.
  double weigh_squares(std::size_t d, double x, std::size_t from, std::span<const double> a) const;

  // Sum over i of a[i] * (x - row i) in dimension d, of positions.
  double weigh_differences(std::size_t d, double x, std::span<const double> a) const;

 private:
  std::vector<std::size_t> categories_;
  std::vector<std::vector<double>> columns_;
  std::size_t size_ = 0;
  std::vector<std::size_t> active_;  // dimensions of all rows up to each
};

}  // namespace attune
