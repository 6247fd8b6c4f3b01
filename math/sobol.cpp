#include "math/sobol.h"

#include <algorithm>
#include <bit>
#include <boost/random/sobol.hpp>

namespace attune {
namespace {

constexpr unsigned kDigits = 32;

// The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): each bit of the result depends on
// all bits.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint32_t reverse_bits(std::uint32_t x) {
  x = (x & 0x55555555U) << 1 | (x >> 1 & 0x55555555U);
  x = (x & 0x33333333U) << 2 | (x >> 2 & 0x33333333U);
  x = (x & 0x0f0f0f0fU) << 4 | (x >> 4 & 0x0f0f0f0fU);
  x = (x & 0x00ff00ffU) << 8 | (x >> 8 & 0x00ff00ffU);
  return x << 16 | x >> 16;
}

// Flips each digit or not, by a hash of the digits before it. Sums, and products by even numbers,
// carry only upwards: hence the reversal of the bits.
std::uint32_t scramble(std::uint32_t x, std::uint32_t seed) {
  x = reverse_bits(x);
  x ^= x * 0x3d20adeaU;
  x += seed;
  x *= (seed >> 16) | 1U;
  x ^= x * 0x05526c56U;
  x ^= x * 0x53a22864U;
  return reverse_bits(x);
}

// Boost gives points and not direction numbers. But the Gray codes of 2^j and 2^j - 1 differ only
// in bit j, so the XOR of these two points is a direction number.
std::vector<std::uint32_t> direction_numbers(std::size_t dimensions) {
  std::vector<std::uint32_t> directions;
  if (dimensions == 0) return directions;
  directions.reserve(kDigits * dimensions);
  boost::random::sobol_engine<std::uint32_t, kDigits> points(dimensions);
  for (unsigned j = 0; j < kDigits; ++j) {
    points.seed((std::uint32_t{1} << j) - 1);  // the point 2^j: Boost leaves out the origin
    for (std::size_t i = 0; i < dimensions; ++i) {
      const std::uint32_t before = j > 0 ? directions[(j - 1) * dimensions + i] : 0;
      directions.push_back(static_cast<std::uint32_t>(points()) ^ before);
    }
  }
  return directions;
}

}  // namespace

Sobol::Sobol(std::size_t dimensions, std::optional<std::uint64_t> seed)
    : dimensions_(dimensions),
      seed_(seed),
      directions_(direction_numbers(std::min(dimensions, kDimensions))),
      digits_(std::min(dimensions, kDimensions)) {}

std::vector<double> Sobol::next() {
  std::vector<double> point;
  point.reserve(dimensions_);
  for (std::size_t i = 0; i < dimensions_; ++i) point.push_back(coordinate(i));

  ++count_;
  // In the order of the Gray code, consecutive points differ by a single direction number.
  const auto bit = std::countr_zero(static_cast<std::uint32_t>(count_));
  if (bit == kDigits) {
    std::ranges::fill(digits_, 0);
  } else {
    const auto* direction = directions_.data() + static_cast<std::size_t>(bit) * digits_.size();
    for (std::size_t i = 0; i < digits_.size(); ++i) digits_[i] ^= direction[i];
  }
  return point;
}

void Sobol::skip_to(std::uint64_t count) {
  count_ = count;
  const auto index = static_cast<std::uint32_t>(count);
  std::ranges::fill(digits_, 0);
  for (std::uint32_t code = index ^ index >> 1; code != 0; code &= code - 1) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(code));
    for (std::size_t i = 0; i < digits_.size(); ++i) {
      digits_[i] ^= directions_[bit * digits_.size() + i];
    }
  }
}

double Sobol::coordinate(std::size_t dimension) const {
  const bool known = dimension < digits_.size();
  if (!seed_ && known) return digits_[dimension] * 0x1p-32;
  const std::uint64_t key = mix(mix(seed_.value_or(0)) ^ mix(dimension) ^ (count_ >> kDigits));
  const std::uint64_t noise = mix(key ^ mix(count_));
  if (!known) return static_cast<double>(noise >> 11) * 0x1p-53;
  // The sequence has 32 digits; the further ones are random, for this scrambling.
  const std::uint32_t digits = scramble(digits_[dimension], static_cast<std::uint32_t>(key >> 32));
  return static_cast<double>(std::uint64_t{digits} << 21 | noise >> 43) * 0x1p-53;
}

}  // namespace attune
