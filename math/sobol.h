#pragma once
// The Sobol sequence, optionally scrambled: points of [0, 1)^d that fill the cube more evenly than
// independent draws.
//
// Sources: Sobol, "On the distribution of points in a cube and the approximate evaluation of
// integrals" (1967); direction numbers of Joe, Kuo, "Constructing Sobol Sequences with Better
// Two-Dimensional Projections" (2008), section 4; order by Gray code of Antonov, Saleev (1979).
// Scrambling: nested and uniform as in Owen, "Randomly Permuted (t,m,s)-Nets and (t,s)-Sequences"
// (1995), by the hash of Laine, Karras (2011, section 3.1) as in Burley, "Practical Hash-based Owen
// Scrambling" (JCGT 2020), with Vegdahl's constants (2021).
//
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
