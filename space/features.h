#pragma once
// Point -> the numbers that a regression model sees: one per dimension, none for constants.
//
//   Uniform, Normal, IntRange   a position in [0, 1], as in unit_cube.h
//   Choice                      the index of the category; at least three numbers in ascending
//                               order are a scale: their rank, in [0, 1]
//   Subset                      one dimension of two categories for each candidate
//
// Parameters of the same name and domain below several options of one choice share a dimension,
// because what a model learns of one says something about the others. The dimension of an inactive
// parameter is NaN.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "space/space.h"

namespace attune {

class Features {
 public:
  struct Dimension {
    std::size_t categories = 0;  // 0: a position
    std::size_t levels = 0;      // different positions that values have; 0: too many to count
  };

  explicit Features(const Space& space);  // keeps a copy

  std::size_t size() const { return dimensions_.size(); }
  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  std::vector<std::size_t> categories() const;  // of each dimension, 0 for a position

  // `row` has size() elements; `point` is of the space.
  void encode(const Point& point, std::span<double> row) const;
  std::vector<double> encode(const Point& point) const;

  // Where the dimensions of parameter i are. A constant has none.
  struct Place {
    std::size_t first = 0, count = 0;
  };
  Place place(std::size_t i) const { return {columns_[i].first, columns_[i].count}; }

  // The dimension of parameter i if it is a position, and the value of i nearest to a position.
  std::optional<std::size_t> position(std::size_t i) const;
  double value(std::size_t i, double position) const;
  double position_of(std::size_t i, double value) const;  // of a value of parameter i

  // The probability that a drawn value of parameter i has at most this position. Valid if the
  // parameter is a position. Without q, and of what has no steps, it is the position.
  double probability_up_to(std::size_t i, double position) const;

 private:
  struct Column {
    std::size_t first = 0, count = 0;  // dimensions of a parameter
    bool scale = false;                // a Choice of ascending numbers
  };

  bool shares(std::size_t i, std::size_t j) const;
  Column add(const Param& param);

  Space space_;
  std::vector<Dimension> dimensions_;
  std::vector<Column> columns_;  // of each parameter
};

}  // namespace attune
