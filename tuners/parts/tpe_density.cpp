#include "tuners/parts/tpe_density.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attune {
namespace {

// The constants of the widths: see the header.
constexpr double kWidth = 0.15;
constexpr double kMostClipped = 100;
constexpr double kSmallestInCells = 0.5;
constexpr double kCategoriesBefore = 2;

// The declared distribution as a kernel: uniform between the bounds, or the standard normal if
// there are none.
MixtureKernel declared(const MixtureAxis& axis) {
  if (axis.categories > 0 || std::isinf(axis.low)) return {.width = 1};
  return {.centre = axis.low, .width = std::numeric_limits<double>::infinity()};
}

}  // namespace

ProductMixture tpe_density(const TpeGroups& groups, const TpeGroups::Group& group,
                           const TpeSide& side, double prior_weight) {
  const std::size_t n = side.trials.size();
  const auto count = static_cast<double>(n);
  std::vector<double> weights = side.weights;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  weights.push_back(n > 0 ? prior_weight * total / count : 1);

  const double scott =
      kWidth * std::pow(std::max(count, 1.0), -1 / (static_cast<double>(group.size()) + 4));
  const double width = std::max(scott, 1 / std::min(kMostClipped, count + 2));
  // Weight of each other category; the trial's own has 1.
  const double others = kCategoriesBefore / (count + 1);
  std::vector<MixtureAxis> axes;
  std::vector<MixtureKernel> kernels;
  kernels.reserve(group.size() * (n + 1));
  for (const std::size_t v : group) {
    const MixtureAxis& axis = groups.variables()[v].axis;
    axes.push_back(axis);
    const double spread = others * axis.categories / (1 + others * axis.categories);
    // Member by member: g++ 12 makes slow copies of a temporary here, three times the whole work.
    const std::size_t first = kernels.size();
    kernels.resize(first + n);
    for (std::size_t t = 0; t < n; ++t) {
      const auto& [x, cell] = side.trials[t][v];
      MixtureKernel& kernel = kernels[first + t];
      kernel.centre = x;
      kernel.width = axis.categories > 0 ? spread : std::max(width, kSmallestInCells * cell);
      kernel.cell = axis.categories > 0 ? 0 : cell;
      if (std::isnan(x)) kernel = declared(axis);  // a gap says nothing of this variable
    }
    kernels.push_back(declared(axis));
  }
  return {axes, kernels, weights};
}

}  // namespace attune
