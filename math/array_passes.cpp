#include "math/array_passes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "math/fast_exp.h"

namespace attune {
namespace {

// Inlined into each variant, which compiles it for its own processor.
#define ATTUNE_PASS [[gnu::always_inline]] inline

constexpr std::size_t kSums = ArrayPasses::kSums;

// Joins the terms in kSums lanes. The lanes are explicit, because the compiler may not split a sum
// or a maximum of floats by itself.
template <class Join>
ATTUNE_PASS float joined(const float* terms, std::size_t n, float start, Join&& join) {
  std::array<float, kSums> lanes;
  for (float& lane : lanes) lane = start;
  std::size_t j = 0;
  for (; j + kSums <= n; j += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) lanes[k] = join(lanes[k], terms[j + k]);
  }
  for (std::size_t k = 0; j < n; ++j, ++k) lanes[k] = join(lanes[k], terms[j]);
  for (std::size_t half = kSums / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) lanes[k] = join(lanes[k], lanes[k + half]);
  }
  return lanes[0];
}

ATTUNE_PASS float sum(const float* terms, std::size_t n) {
  return joined(terms, n, 0.0f, [](float a, float b) { return a + b; });
}

// erfc(x) for x >= 0 within 5e-7 (Abramowitz, Stegun, "Handbook of Mathematical Functions",
// 7.1.26).
ATTUNE_PASS float complementary_error(float x) {
  const float t = 1 / (1 + 0.3275911f * x);
  const float polynomial =
      t * (0.254829592f +
           t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  return polynomial * exp_minus(x * x);
}

// Explicit vectors, because arrays of a dozen components are common: the code that a compiler makes
// of a loop is good only for thousands.
using Floats [[gnu::vector_size(ArrayPasses::kLanes * sizeof(float))]] = float;
using Ints [[gnu::vector_size(ArrayPasses::kLanes * sizeof(std::int32_t))]] = std::int32_t;

ATTUNE_PASS void add_normals(const NormalTerms& components, const TwoFloats& x, std::size_t from,
                             std::size_t to, Floats& sums) {
  for (std::size_t j = from; j < to; j += ArrayPasses::kLanes) {
    Floats high, low, scale, height;
    std::memcpy(&high, &components.high[j], sizeof high);
    std::memcpy(&low, &components.low[j], sizeof low);
    std::memcpy(&scale, &components.scale[j], sizeof scale);
    std::memcpy(&height, &components.height[j], sizeof height);
    const Floats z = ((x.high - high) + (x.low - low)) * scale;
    Floats term;
    exp_minus<Floats, Ints, 5>(z * z, term);
    sums += height * term;
  }
}

ATTUNE_PASS void sums_of_normals_of(const NormalTerms& components, std::size_t always,
                                    std::span<const NormalWindow> windows, std::span<float> sums) {
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto& [x, from, to] = windows[i];
    Floats lanes = {};
    add_normals(components, x, 0, always, lanes);
    add_normals(components, x, from, to, lanes);
    sums[i] = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
              ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  }
}

ATTUNE_PASS void subtract_squares_of(float x, std::span<const float> middles,
                                     std::span<const float> scales, std::span<float> all) {
  const float* __restrict middle = middles.data();
  const float* __restrict scale = scales.data();
  float* __restrict terms = all.data();
  const std::size_t n = all.size();
  for (std::size_t j = 0; j < n; ++j) {
    const float z = (x - middle[j]) * scale[j];
    terms[j] -= z * z;
  }
}

ATTUNE_PASS void add_misses_of(float x, std::span<const float> middles,
                               std::span<const float> misses, std::span<float> all) {
  const float* __restrict middle = middles.data();
  const float* __restrict misses_of = misses.data();
  float* __restrict terms = all.data();
  const std::size_t n = all.size();
  for (std::size_t j = 0; j < n; ++j) {
    const float miss = misses_of[j];
    terms[j] += middle[j] == x ? 0.0f : miss;
  }
}

ATTUNE_PASS double log_sum_of(std::span<float> all) {
  float* terms = all.data();
  const std::size_t n = all.size();
  const float largest = joined(terms, n, -std::numeric_limits<float>::infinity(),
                               [](float a, float b) { return a > b ? a : b; });
  for (std::size_t j = 0; j < n; ++j) terms[j] = exp_minus(largest - terms[j]);
  return static_cast<double>(largest) + std::log(static_cast<double>(sum(terms, n)));
}

ATTUNE_PASS void truncated_peaks_of(float low, float high, std::span<const float> middles,
                                    std::span<const float> scales, std::span<float> peaks) {
  const float* __restrict middle = middles.data();
  const float* __restrict scale = scales.data();
  float* __restrict peak = peaks.data();
  const std::size_t n = peaks.size();
  for (std::size_t j = 0; j < n; ++j) {
    const float outside = complementary_error((middle[j] - low) * scale[j]) +
                          complementary_error((high - middle[j]) * scale[j]);
    peak[j] = scale[j] / (1 - outside / 2);
  }
}

ATTUNE_PASS void add_squares_of(double x, double weight, std::span<const double> from,
                                std::span<double> to) {
  const double* __restrict column = from.data();
  double* __restrict out = to.data();
  const std::size_t n = to.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double difference = column[i] - x;
    out[i] += weight * (difference * difference);
  }
}

// Reads and writes `to` once for four columns: alone, that costs more than the arithmetic.
ATTUNE_PASS void add_four_squares_of(std::span<const double, 4> x,
                                     std::span<const double, 4> weights,
                                     const std::array<const double*, 4>& from,
                                     std::span<double> to) {
  const double* __restrict c0 = from[0];
  const double* __restrict c1 = from[1];
  const double* __restrict c2 = from[2];
  const double* __restrict c3 = from[3];
  double* __restrict out = to.data();
  const std::size_t n = to.size();
  const double x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
  const double w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
  for (std::size_t i = 0; i < n; ++i) {
    const double d0 = c0[i] - x0, d1 = c1[i] - x1, d2 = c2[i] - x2, d3 = c3[i] - x3;
    out[i] = (((out[i] + w0 * (d0 * d0)) + w1 * (d1 * d1)) + w2 * (d2 * d2)) + w3 * (d3 * d3);
  }
}

ATTUNE_PASS void add_mismatches_of(double x, double weight, std::span<const double> from,
                                   std::span<double> to) {
  const double* __restrict column = from.data();
  double* __restrict out = to.data();
  const std::size_t n = to.size();
  for (std::size_t i = 0; i < n; ++i) out[i] += column[i] == x ? 0 : weight;
}

// The sum of term(0) to term(n - 1), as four partial sums: in a single sum each addition would have
// to wait for the one before.
template <class Term>
ATTUNE_PASS double sum_of(std::size_t n, const Term& term) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += term(i + k);
  }
  for (; i < n; ++i) sums[0] += term(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

ATTUNE_PASS double weigh_squares_of(double x, const double* column, std::span<const double> a) {
  return sum_of(a.size(), [=](std::size_t i) __attribute__((always_inline)) {
    const double difference = column[i] - x;
    return a[i] * (difference * difference);
  });
}

ATTUNE_PASS double weigh_mismatches_of(double x, const double* column, std::span<const double> a) {
  return sum_of(a.size(), [=](std::size_t i) __attribute__((always_inline)) {
    return column[i] == x ? 0.0 : a[i];
  });
}

ATTUNE_PASS double weigh_differences_of(double x, const double* column, std::span<const double> a) {
  return sum_of(a.size(), [=](std::size_t i)
                              __attribute__((always_inline)) { return a[i] * (x - column[i]); });
}

// The functions of one variant. They are functions and not lambdas without captures, because those
// would not take over ATTUNE_TARGET.
#define ATTUNE_VARIANT                                                                        \
  ATTUNE_TARGET void sums_of_normals(const NormalTerms& components, std::size_t always,       \
                                     std::span<const NormalWindow> windows,                   \
                                     std::span<float> sums) {                                 \
    sums_of_normals_of(components, always, windows, sums);                                    \
  }                                                                                           \
  ATTUNE_TARGET void subtract_squares(float x, std::span<const float> middle,                 \
                                      std::span<const float> scale, std::span<float> terms) { \
    subtract_squares_of(x, middle, scale, terms);                                             \
  }                                                                                           \
  ATTUNE_TARGET void add_misses(float x, std::span<const float> middle,                       \
                                std::span<const float> miss, std::span<float> terms) {        \
    add_misses_of(x, middle, miss, terms);                                                    \
  }                                                                                           \
  ATTUNE_TARGET double log_sum(std::span<float> terms) { return log_sum_of(terms); }          \
  ATTUNE_TARGET void truncated_peaks(float low, float high, std::span<const float> middle,    \
                                     std::span<const float> scale, std::span<float> peak) {   \
    truncated_peaks_of(low, high, middle, scale, peak);                                       \
  }                                                                                           \
  ATTUNE_TARGET void add_squares(double x, double weight, std::span<const double> column,     \
                                 std::span<double> out) {                                     \
    add_squares_of(x, weight, column, out);                                                   \
  }                                                                                           \
  ATTUNE_TARGET void add_four_squares(                                                        \
      std::span<const double, 4> x, std::span<const double, 4> weights,                       \
      const std::array<const double*, 4>& columns, std::span<double> out) {                   \
    add_four_squares_of(x, weights, columns, out);                                            \
  }                                                                                           \
  ATTUNE_TARGET void add_mismatches(double x, double weight, std::span<const double> column,  \
                                    std::span<double> out) {                                  \
    add_mismatches_of(x, weight, column, out);                                                \
  }                                                                                           \
  ATTUNE_TARGET double weigh_squares(double x, std::span<const double> column,                \
                                     std::span<const double> a) {                             \
    return weigh_squares_of(x, column.data(), a);                                             \
  }                                                                                           \
  ATTUNE_TARGET double weigh_mismatches(double x, std::span<const double> column,             \
                                        std::span<const double> a) {                          \
    return weigh_mismatches_of(x, column.data(), a);                                          \
  }                                                                                           \
  ATTUNE_TARGET double weigh_differences(double x, std::span<const double> column,            \
                                         std::span<const double> a) {                         \
    return weigh_differences_of(x, column.data(), a);                                         \
  }                                                                                           \
  constexpr ArrayPasses kPasses = {sums_of_normals,  subtract_squares, add_misses,            \
                                   log_sum,          truncated_peaks,  add_squares,           \
                                   add_four_squares, add_mismatches,   weigh_squares,         \
                                   weigh_mismatches, weigh_differences};

#define ATTUNE_TARGET
namespace plain {
ATTUNE_VARIANT
}
#undef ATTUNE_TARGET

#ifdef __x86_64__
#define ATTUNE_TARGET [[gnu::target("avx2")]]
namespace avx2 {
ATTUNE_VARIANT
}
#undef ATTUNE_TARGET
#endif

}  // namespace

const ArrayPasses& plain_array_passes() { return plain::kPasses; }

const ArrayPasses* avx2_array_passes() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) return &avx2::kPasses;
#endif
  return nullptr;
}

// It asks for the processor in each call, which costs only a load and a branch. Not target_clones:
// their resolvers run before the thread sanitizer is ready for them.
const ArrayPasses& array_passes() {
  const ArrayPasses* best = avx2_array_passes();
  return best ? *best : plain_array_passes();
}

}  // namespace attune
