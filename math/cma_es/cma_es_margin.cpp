// The margin of discrete coordinates. Source: Hamano, Saito, Nomura, Shirakawa, "CMA-ES with
// Margin" (GECCO 2022), section 4. It corrects mean and scale of each discrete coordinate so that a
// draw leaves the mean's cell with a probability of at least alpha = 1 / (n lambda). Without it, a
// distribution that is narrower than a cell would never leave this cell again.
#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

#include "math/cma_es/cma_es.h"
#include "math/normal_tail.h"

namespace attune {
namespace {

// The z with upper_tail(z) = p, 0 < p < 1.
double tail_quantile(double p) { return std::numbers::sqrt2 * boost::math::erfc_inv(2 * p); }

}  // namespace

void CmaEs::apply_margin() {
  const auto n = static_cast<double>(mean_.size());
  const double alpha = std::min(0.5, 1 / (n * static_cast<double>(population_)));
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const std::vector<double>& cells = cells_[i];
    if (cells.empty()) continue;
    double& mean = mean_[i];
    const double deviation = this->deviation(i);
    const auto above = std::ranges::lower_bound(cells, mean);
    if (above == cells.begin() || above == cells.end()) {
      // The mean is in the first or last cell, which has only one exit.
      const double exit = above == cells.end() ? cells.back() : cells.front();
      const double most = deviation * tail_quantile(alpha);
      mean = exit + std::clamp(mean - exit, -most, most);
      continue;
    }
    const double low = *(above - 1), high = *above;
    const double below = upper_tail((mean - low) / deviation);
    const double beyond = upper_tail((high - mean) / deviation);
    if (below >= alpha / 2 && beyond >= alpha / 2) continue;
    // Raises the two exits to the least probability; the three parts give it up in proportion to
    // what they have above the least.
    const double least = alpha / 2, inside = std::max(0.0, 1 - below - beyond);
    double left = std::max(below, least), right = std::max(beyond, least);
    const double excess = 1 - left - right - inside;  // <= 0
    const double spare = left + right + inside - 3 * least;
    const double share = spare > 0 ? excess / spare : 0;
    left += share * (left - least);
    right += share * (right - least);
    const double z_left = tail_quantile(left), z_right = tail_quantile(right);
    if (!(z_left + z_right > 0)) continue;
    scales_[i] *= (high - low) / (z_left + z_right) / deviation;
    mean = (low * z_right + high * z_left) / (z_left + z_right);
  }
}

}  // namespace attune
