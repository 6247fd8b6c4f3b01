#pragma once
// Every block of 2^k points that begins at a multiple of 2^k has one point in each interval of
// length 2^-k of each coordinate, scrambled or not. With scrambling, each single point is uniformly
// distributed.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace attune {

// A value: 132 bytes for each dimension. To save it, store dimensions, seed and count().
class Sobol {
 public:
  // Coordinates beyond this number are independent uniform numbers, made by a hash of (seed,
  // coordinate, count). Such points are still evenly spread in the first coordinates.
  static constexpr std::size_t kDimensions = 3667;

  // Without a seed nothing is scrambled, and the first point is the origin.
  explicit Sobol(std::size_t dimensions, std::optional<std::uint64_t> seed = {});

  std::vector<double> next();

  // The number of points before the next one. After 2^32 points the sequence begins again, with
  // another scrambling.
  std::uint64_t count() const { return count_; }
  void skip_to(std::uint64_t count);

 private:
  double coordinate(std::size_t dimension) const;

  std::size_t dimensions_;
  std::optional<std::uint64_t> seed_;
  std::vector<std::uint32_t> directions_;  // those of bit j begin at j * digits_.size()
  std::vector<std::uint32_t> digits_;      // of the next point: 32 binary digits after the point
  std::uint64_t count_ = 0;
};

}  // namespace attune
