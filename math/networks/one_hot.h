#pragma once
// Turns positions and categories, some of them inactive, into inputs of a neural network of
// magnitude about 1.
//
//   position          one input: 0 in the middle, of deviation 1 if it is uniform
//   two categories    one input, -1 or 1
//   more categories   one input for each, 1 or 0; above 64, two groups of at most 64 for index
//                     modulo 64 and index / 64, as in the digits of a number
//   inactive          0; a position that may be so has a second input, 1 where it is active
#include <cstddef>
#include <span>
#include <vector>

namespace attune {

// A value. Thread safe.
class OneHot {
 public:
  struct Dimension {
    std::size_t categories = 0;  // 0: a position in [0, 1]
    bool optional = false;       // may be inactive (NaN)
  };

  explicit OneHot(std::vector<Dimension> dimensions);

  std::size_t dimensions() const { return dimensions_.size(); }
  std::size_t inputs() const { return inputs_; }

  // `rows`: count x dimensions(), row by row. Returns count x inputs() numbers.
  std::vector<double> encode(std::span<const double> rows, std::size_t count) const;

  // Turns derivatives by the inputs into derivatives by the dimensions; those by categories are 0.
  void pull_back(std::span<const double> by_inputs, std::span<double> gradient) const;

 private:
  std::vector<Dimension> dimensions_;
  std::size_t inputs_ = 0;
};

}  // namespace attune
