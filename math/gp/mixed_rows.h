#pragma once
// The observed inputs of a model, and their squared distances. They are stored dimension by
// dimension, so that array_passes.h can handle many observations at once.
#include <cstddef>
#include <span>
#include <vector>

namespace attune {

// A dimension is a position in [0, 1] (`categories` is 0), or one of so many categories. NaN:
// inactive.
//
// The squared distance of two values of a dimension is the squared difference of positions; for
// categories 0 if they are equal, else 1. An inactive position is put in the centre, and an
// inactive category becomes a category of its own. The choice that decides about the activity tells
// inactive values from active ones. (Distance 0 from an inactive value to all active ones would not
// be a metric, and a kernel of it would be indefinite.)
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
  double imputed(std::size_t d, double x) const;  // x, or what replaces NaN
  double mean_active() const;  // the number of active dimensions in an average row

  // out[i]: the squared distance of x and row from + i, the sum over the dimensions d of weights[d]
  // times that in d. Both have dimensions() numbers.
  void squares(std::span<const double> x, std::span<const double> weights, std::size_t from,
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
