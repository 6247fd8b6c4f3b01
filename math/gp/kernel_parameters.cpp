#include "math/gp/kernel_parameters.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

// Limits and priors of the logarithms; targets have variance 1.
const double kWeightLow = std::log(1e-4), kWeightHigh = std::log(1e4);
const double kSignalLow = std::log(0.05), kSignalHigh = std::log(20.0), kNoiseHigh = 0;

struct LogNormal {
  double mean, deviation;
};
// The prior of the logarithm of a length scale; half the logarithm of the number of active
// dimensions is added to the mean. Measured (docs/tuners.md): half as long as in the paper, so that
// a model of few observations continues to explore.
constexpr LogNormal kLength = {-1.5, 1};
// Added for a category: the distance between two categories is larger than that of most positions.
constexpr double kCategoryLength = 0.5;
constexpr LogNormal kSignal = {0, 1};
constexpr LogNormal kNoise = {-8, 2};
constexpr LogNormal kWarp = {0, 0.5};
constexpr double kMostWarp = 1.5;

}  // namespace

std::vector<double> pack(const KernelParameters& parameters) {
  std::vector<double> p = parameters.log_weights;
  p.push_back(parameters.log_signal);
  p.push_back(parameters.log_noise);
  for (const Warp& warp : parameters.warps) p.insert(p.end(), {warp.log_a, warp.log_b});
  return p;
}

KernelParameters unpack(std::span<const double> p, std::size_t k) {
  KernelParameters parameters = {
      {p.begin(), p.begin() + static_cast<std::ptrdiff_t>(k)}, p[k], p[k + 1]};
  for (std::size_t i = k + 2; i < p.size(); i += 2) parameters.warps.push_back({p[i], p[i + 1]});
  return parameters;
}

std::size_t packed_size(std::size_t dimensions, bool with_warps) {
  return (with_warps ? 3 : 1) * dimensions + 2;
}

Box kernel_limits(const MixedRows& rows, double least_noise, bool with_warps) {
  const std::size_t k = rows.dimensions();
  Box box = {std::vector(k, kWeightLow), std::vector(k, kWeightHigh)};
  box.low.insert(box.low.end(), {kSignalLow, std::log(least_noise)});
  box.high.insert(box.high.end(), {kSignalHigh, kNoiseHigh});
  for (std::size_t i = 0; with_warps && i < k; ++i) {
    const double most = rows.is_position(i) ? kMostWarp : 0;
    box.low.insert(box.low.end(), 2, -most);
    box.high.insert(box.high.end(), 2, most);
  }
  return box;
}

double log_kernel_prior(const MixedRows& rows, std::span<const double> p, std::span<double> g) {
  const std::size_t k = rows.dimensions();
  const double more = 0.5 * std::log(std::max(rows.mean_active(), 1.0));
  double value = 0;
  const auto add = [&](std::size_t i, LogNormal prior) {
    const double z = (p[i] - prior.mean) / prior.deviation;
    value -= 0.5 * z * z;
    g[i] -= z / prior.deviation;
  };
  for (std::size_t i = 0; i < k; ++i) {
    const double category = rows.is_position(i) ? 0 : kCategoryLength;
    add(i, {-2 * (kLength.mean + more + category), 2 * kLength.deviation});  // log weight
  }
  add(k, kSignal);
  add(k + 1, kNoise);
  for (std::size_t i = k + 2; i < p.size(); ++i) add(i, kWarp);
  return value;
}

}  // namespace attune
