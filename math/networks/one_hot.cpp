#include "math/networks/one_hot.h"

#include <algorithm>

#include "base/check.h"

namespace attune {
namespace {

constexpr std::size_t kGroup = 64;
constexpr double kScale = 3.4641016151377546;  // sqrt(12): of 1 / deviation of a uniform position

std::size_t width(const OneHot::Dimension& dimension) {
  const std::size_t n = dimension.categories;
  if (n == 0) return dimension.optional ? 2 : 1;
  if (n <= 2) return 1;
  if (n <= kGroup) return n;
  return kGroup + std::min(kGroup, (n - 1) / kGroup + 1);
}

}  // namespace

OneHot::OneHot(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {
  for (const Dimension& dimension : dimensions_) inputs_ += width(dimension);
}

std::vector<double> OneHot::encode(std::span<const double> rows, std::size_t count) const {
  ATTUNE_CHECK(rows.size() == count * dimensions());
  std::vector<double> all(count * inputs_);
  double* at = all.data();
  const double* x = rows.data();
  for (std::size_t i = 0; i < count; ++i) {
    for (const Dimension& dimension : dimensions_) {
      const std::size_t n = dimension.categories;
      if (*x != *x) {
        // All zeros.
      } else if (n == 0) {
        at[0] = kScale * (*x - 0.5);
        if (dimension.optional) at[1] = 1;
      } else if (n <= 2) {
        at[0] = *x > 0 ? 1 : -1;
      } else {
        const auto category = static_cast<std::size_t>(*x);
        at[category % kGroup] = 1;
        if (n > kGroup) at[kGroup + category / kGroup % kGroup] = 1;
      }
      at += width(dimension);
      ++x;
    }
  }
  return all;
}

void OneHot::pull_back(std::span<const double> by_inputs, std::span<double> gradient) const {
  ATTUNE_CHECK(by_inputs.size() == inputs_ && gradient.size() == dimensions());
  std::size_t at = 0;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    gradient[d] = dimensions_[d].categories == 0 ? kScale * by_inputs[at] : 0;
    at += width(dimensions_[d]);
  }
}

}  // namespace attune
