#pragma once
// Vectorised loops over arrays. The densities of TPE spend most of their time in them, and a
// Gaussian process the half that is not matrix arithmetic. Each loop is compiled for the build's
// processor and for AVX2; the program chooses one of the two when it runs.
//
// Both variants give the same bits, for these reasons. They are made from the same source. An
// elementwise result does not depend on the number of lanes. A sum is split into the number of
// partial sums that is stated here, whatever the processor has. Nothing is fused
// (-ffp-contract=off, and no target here has fused multiply-add).
#include <array>
#include <cstddef>
#include <span>

namespace attune {

// A number as the sum of two floats. Differences of two such numbers are precise even where those
// of floats cancel.
struct TwoFloats {
  float high = 0, low = 0;
};

inline TwoFloats two_floats(double x) {  // |x| < 1e38
  const auto high = static_cast<float>(x);
  return {high, static_cast<float>(x - static_cast<double>(high))};
}

// A mixture of normals: one array for each number of its components. All arrays have the same
// length, a multiple of ArrayPasses::kLanes; padding has height 0.
struct NormalTerms {
  std::span<const float> high, low;  // the mean
  std::span<const float> scale;      // 1 / (deviation sqrt 2)
  std::span<const float> height;     // >= 0
};

// A point, and the components that it is compared with: the first `always` (an argument, the same
// for all points), and those in [from, to). All are multiples of ArrayPasses::kLanes.
struct NormalWindow {
  TwoFloats x;
  std::size_t from = 0, to = 0;
};

// Pure functions. The spans of one call have the same length and do not overlap.
struct ArrayPasses {
  static constexpr std::size_t kLanes = 8, kSums = 16;  // partial sums of floats; doubles have four

  // sums[i]: the sum over the components j of windows[i] of height[j] exp(-(scale[j] (x -
  // mean[j]))^2), in kLanes partial sums. Terms within 7.5 deviations have a relative error of at
  // most 2e-5; farther ones are at least height[j] * 1e-38.
  void (*sums_of_normals)(const NormalTerms& components, std::size_t always,
                          std::span<const NormalWindow> windows, std::span<float> sums);

  // terms[j] -= (scale[j] (x - middle[j]))^2
  void (*subtract_squares)(float x, std::span<const float> middle, std::span<const float> scale,
                           std::span<float> terms);

  // terms[j] += middle[j] == x ? 0 : miss[j]
  void (*add_misses)(float x, std::span<const float> middle, std::span<const float> miss,
                     std::span<float> terms);

  // The logarithm of the sum of exp(terms[j]), within 1e-6; overwrites the terms. A term that is
  // below the largest one by more than 87 counts as if it were below by 87. At least one term.
  double (*log_sum)(std::span<float> terms);

  // peak[j] = scale[j] / the share that a normal with the mean middle[j] has in [low, high].
  void (*truncated_peaks)(float low, float high, std::span<const float> middle,
                          std::span<const float> scale, std::span<float> peak);

  // out[i] += weight (column[i] - x)^2
  void (*add_squares)(double x, double weight, std::span<const double> column,
                      std::span<double> out);

  // The same for four columns, one after the other: the bits are those of four calls.
  void (*add_four_squares)(std::span<const double, 4> x, std::span<const double, 4> weights,
                           const std::array<const double*, 4>& columns, std::span<double> out);

  // out[i] += column[i] == x ? 0 : weight
  void (*add_mismatches)(double x, double weight, std::span<const double> column,
                         std::span<double> out);

  // The sum over i of:
  // * a[i] (column[i] - x)^2,
  // * a[i] where column[i] != x,
  // * a[i] (x - column[i]).
  double (*weigh_squares)(double x, std::span<const double> column, std::span<const double> a);
  double (*weigh_mismatches)(double x, std::span<const double> column, std::span<const double> a);
  double (*weigh_differences)(double x, std::span<const double> column, std::span<const double> a);
};

const ArrayPasses& array_passes();  // the fastest that this processor can run

// For tests: the variant for the build's processor, and that for AVX2, which is null if the
// processor cannot run it.
const ArrayPasses& plain_array_passes();
const ArrayPasses* avx2_array_passes();

}  // namespace attune
