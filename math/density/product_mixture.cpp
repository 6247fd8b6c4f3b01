#include "math/density/product_mixture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "math/array_passes.h"

namespace attune {
namespace {

// So many points share a pass over an axis, while its numbers are in the nearest cache.
constexpr std::size_t kBlock = 8;

// A product in this range can take two more factors of ordinary size without overflow or underflow.
constexpr double kSmall = 1e-150, kLarge = 1e150;

}  // namespace

ProductMixture::ProductMixture(std::span<const MixtureAxis> axes,
                               std::span<const MixtureKernel> kernels,
                               std::span<const double> weights)
    : axes_(axes.begin(), axes.end()), size_(weights.size()) {
  ATTUNE_CHECK(size_ > 0 && kernels.size() == axes_.size() * size_);
  centre_.resize(kernels.size());
  width_.resize(kernels.size());
  middle_.resize(kernels.size());
  scale_.resize(kernels.size());
  double total = 0;
  for (const double weight : weights) {
    ATTUNE_CHECK(weight > 0);
    cumulative_.push_back(total += weight);
  }
  // Multiplies the factors, and takes the logarithm only before the product would leave the range.
  std::vector<double> product(size_, 1.0), log_height(size_);
  for (std::size_t j = 0; j < size_; ++j) {
    const bool as_before = j > 0 && weights[j] == weights[j - 1];
    log_height[j] = as_before ? log_height[j - 1] : std::log(weights[j] / total);
  }
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const auto of_axis = kernels.subspan(a * size_, size_);
    if (axes_[a].categories > 0) {
      add_categories(a, of_axis, product);
    } else {
      add_numbers(a, of_axis, product);
    }
    const bool last = a + 1 == axes_.size();
    for (std::size_t j = 0; j < size_; ++j) {
      if (!last && product[j] > kSmall && product[j] < kLarge) continue;
      log_height[j] += std::log(product[j]);
      product[j] = 1;
    }
  }
  log_largest_ = *std::ranges::max_element(log_height);
  for (const double log : log_height) height_.push_back(static_cast<float>(log - log_largest_));
}

void ProductMixture::add_numbers(std::size_t axis, std::span<const MixtureKernel> kernels,
                                 std::span<double> heights) {
  const double low = axes_[axis].low, high = axes_[axis].high;
  double* centre = &centre_[axis * size_];
  double* width = &width_[axis * size_];
  float* middle = &middle_[axis * size_];
  float* scale = &scale_[axis * size_];
  MixtureKernel last;  // most kernels are as wide as the one before: saves a square root
  float last_scale = 0;
  for (std::size_t j = 0; j < size_; ++j) {
    const MixtureKernel& kernel = kernels[j];
    ATTUNE_CHECK(kernel.centre >= low && kernel.centre <= high && kernel.width > 0);
    if (kernel.width != last.width || kernel.cell != last.cell) {
      last = kernel;
      const double variance = last.width * last.width + last.cell * last.cell / 12;
      last_scale = static_cast<float>(1 / std::sqrt(2 * variance));
    }
    centre[j] = kernel.centre;
    width[j] = kernel.width;
    middle[j] = static_cast<float>(kernel.centre);
    scale[j] = last_scale;
  }
  std::vector<float> peak(size_);
  array_passes().truncated_peaks(static_cast<float>(low), static_cast<float>(high), {middle, size_},
                                 {scale, size_}, peak);
  constexpr double kPeak = std::numbers::inv_sqrtpi;
  const double uniform = 1 / (high - low);
  for (std::size_t j = 0; j < size_; ++j) {
    heights[j] *= scale[j] > 0 ? kPeak * static_cast<double>(peak[j]) : uniform;
  }
}

void ProductMixture::add_categories(std::size_t axis, std::span<const MixtureKernel> kernels,
                                    std::span<double> heights) {
  double width = 0, own = 1;  // most kernels are as wide as the one before: saves a logarithm
  float miss = 0;
  for (std::size_t j = 0; j < size_; ++j) {
    const MixtureKernel& kernel = kernels[j];
    ATTUNE_CHECK(kernel.width > 0 && kernel.width <= 1);
    if (kernel.width != width) {
      width = kernel.width;
      const double other = width / axes_[axis].categories;
      own = 1 - width + other;
      miss = static_cast<float>(std::log(other / own));
    }
    centre_[axis * size_ + j] = kernel.centre;
    width_[axis * size_ + j] = width;
    middle_[axis * size_ + j] = static_cast<float>(kernel.centre);
    scale_[axis * size_ + j] = miss;
    heights[j] *= own;
  }
}

void ProductMixture::sample(Rng& rng, std::span<double> x) const {
  ATTUNE_CHECK(x.size() == axes_.size());
  const auto found = std::ranges::upper_bound(cumulative_, rng.uniform() * cumulative_.back());
  const auto j =
      static_cast<std::size_t>(std::min(found - cumulative_.begin(), std::ssize(cumulative_) - 1));
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const auto& [low, high, categories] = axes_[a];
    const double centre = centre_[a * size_ + j], width = width_[a * size_ + j];
    if (categories > 0) {
      x[a] = rng.uniform() < width ? kAnyCategory : centre;
    } else if (std::isinf(width)) {
      x[a] = rng.uniform(low, high);
    } else {
      // At least a third of the draws are inside, because the centre is inside and the width is at
      // most that of the range.
      do x[a] = centre + width * rng.normal();
      while (!(x[a] >= low && x[a] <= high));
    }
  }
}

void ProductMixture::log_densities(std::span<const double> points,
                                   std::span<double> log_densities) const {
  const std::size_t count = log_densities.size(), d = axes_.size();
  ATTUNE_CHECK(points.size() == count * d);
  const ArrayPasses& passes = array_passes();
  std::vector<float> scratch(kBlock * size_);
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::size_t block = std::min(kBlock, count - first);
    for (std::size_t b = 0; b < block; ++b) {
      // Terms begin as the components' log heights; each axis then adds its kernel's logarithm.
      std::ranges::copy(height_, scratch.begin() + static_cast<std::ptrdiff_t>(b * size_));
    }
    for (std::size_t a = 0; a < d; ++a) {
      const auto middle = std::span(middle_).subspan(a * size_, size_);
      const auto scale = std::span(scale_).subspan(a * size_, size_);
      const auto add = axes_[a].categories > 0 ? passes.add_misses : passes.subtract_squares;
      for (std::size_t b = 0; b < block; ++b) {
        const auto x = static_cast<float>(points[(first + b) * d + a]);
        add(x, middle, scale, std::span(scratch).subspan(b * size_, size_));
      }
    }
    for (std::size_t b = 0; b < block; ++b) {
      const auto terms = std::span(scratch).subspan(b * size_, size_);
      log_densities[first + b] = log_largest_ + passes.log_sum(terms);
    }
  }
}

}  // namespace attune
