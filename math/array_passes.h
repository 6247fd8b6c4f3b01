#pragma once
// Passes over arrays that use as many lanes as the processor has: what the densities of TPE, and
// half of a Gaussian process that is not matrix arithmetic, spend their time on. The place for such
// loops: each is compiled for the build's processor and for AVX2, and one of the two is chosen when
// the program runs.
//
// Both give the same bits. They are made from the same source; what is elementwise does not depend
// on the number of lanes, what is summed is summed in as many sums as it says here, whatever the
// processor has; and nothing is fused (-ffp-contract=off, and no target here has fused
// multiply-add).
#include <cstddef>
#include <span>

namespace attune {

// A number as the sum of two floats: differences of such are precise where those of floats cancel.
struct TwoFloats {
  float high = 0, low = 0;
};

inline TwoFloats two_floats(double x) {  // |x| < 1e38
  const auto high = static_cast<float>(x);
  return {high, static_cast<float>(x - static_cast<double>(high))};
}

// A mixture of normals, one array for each number of its components. All of the same length, a
// multiple of ArrayPasses::kLanes; a component that only fills up has height 0.
struct NormalTerms {
  std::span<const float> high, low;  // the mean
  std::span<const float> scale;      // 1 / (deviation sqrt 2)
  std::span<const float> height;     // >= 0
};

// A point, and which components it is compared with: the first `always`, which is the same for all
// points, and [from, to). Multiples of ArrayPasses::kLanes.
struct NormalWindow {
  TwoFloats x;
  std::size_t from = 0, to = 0;
};

// Pure functions; spans of one call are of the same length and do not overlap.
struct ArrayPasses {
  static constexpr std::size_t kLanes = 8, kSums = 16;  // of floats; of doubles four sums

  // sums[i]: the sum over the components j of windows[i] of height[j] exp(-(scale[j] (x -
  // mean[j]))^2). Terms within 7.5 deviations are within 2e-5 relative; farther ones are at least
  // height[j] * 1e-38. In kLanes sums.
  void (*sums_of_normals)(const NormalTerms& components, std::size_t always,
                          std::span<const NormalWindow> windows, std::span<float> sums);

  // terms[j] -= (scale[j] (x - middle[j]))^2
  void (*subtract_squares)(float x, std::span<const float> middle, std::span<const float> scale,
                           std::span<float> terms);

  // terms[j] += middle[j] == x ? 0 : miss[j]
  void (*add_misses)(float x, std::span<const float> middle, std::span<const float> miss,
                     std::span<float> terms);

  // The logarithm of the sum of exp(terms[j]), which are overwritten; within 1e-6 of the exact one
  // of these, but that terms below the largest one by more than 87 count as that. At least one.
  double (*log_sum)(std::span<float> terms);

  // peak[j] = scale[j] / the share that a normal with the mean middle[j] has in [low, high].
  void (*truncated_peaks)(float low, float high, std::span<const float> middle,
                          std::span<const float> scale, std::span<float> peak);

  // out[i] += weight (column[i] - x)^2
  void (*add_squares)(double x, double weight, std::span<const double> column,
                      std::span<double> out);

  // out[i] += column[i] == x ? 0 : weight
  void (*add_mismatches)(double x, double weight, std::span<const double> column,
                         std::span<double> out);

  // The sum over i of a[i] (column[i] - x)^2, of a[i] where column[i] != x, of a[i] (x -
  // column[i]).
  double (*weigh_squares)(double x, std::span<const double> column, std::span<const double> a);
  double (*weigh_mismatches)(double x, std::span<const double> column, std::span<const double> a);
  double (*weigh_differences)(double x, std::span<const double> column, std::span<const double> a);
};

const ArrayPasses& array_passes();  // the fastest that this processor can run

// For tests: those of the build's processor, and those for AVX2, null where they cannot run.
const ArrayPasses& plain_array_passes();
const ArrayPasses* avx2_array_passes();

}  // namespace attune
