#include "rungs/levels.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

std::vector<double> normalised(std::vector<double> weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  for (double& weight : weights) weight /= sum;
  return weights;
}

}  // namespace

std::vector<double> ray_milestones(double max_t, double grace, double factor, int s) {
  const int count = static_cast<int>(std::log(max_t / grace) / std::log(factor) - s + 1);
  std::vector<double> milestones;
  for (int k = 0; k < count; ++k) milestones.push_back(grace * std::pow(factor, k + s));
  return milestones;
}

std::vector<double> ray_bracket_probabilities(std::span<const std::size_t> milestones) {
  const auto most = static_cast<double>(std::ranges::max(milestones));
  std::vector<double> weights;
  for (const std::size_t count : milestones) {
    weights.push_back(std::exp(static_cast<double>(count) - most));
  }
  return normalised(std::move(weights));
}

std::vector<std::int64_t> syne_levels(std::int64_t grace, double factor, std::int64_t max_t,
                                      std::optional<std::int64_t> increment) {
  std::vector<std::int64_t> levels;
  if (increment) {
    for (std::int64_t level = grace; level < max_t; level += *increment) levels.push_back(level);
    return levels;
  }
  double level = static_cast<double>(grace);
  for (int k = 0; level < static_cast<double>(max_t); ++k) {
    level = static_cast<double>(grace) * std::pow(factor, k);
    // nearbyint() rounds half to even in the default rounding mode.
    const auto rounded = static_cast<std::int64_t>(std::nearbyint(level));
    if (level < static_cast<double>(max_t) && rounded < max_t) levels.push_back(rounded);
  }
  return levels;
}

std::vector<double> syne_bracket_probabilities(std::span<const std::int64_t> levels,
                                               std::int64_t max_t, std::size_t wanted) {
  const std::size_t all = levels.size() + 1;
  std::vector<double> weights;
  for (std::size_t s = 0; s < std::min(wanted, all); ++s) {
    const auto lowest = static_cast<double>(s < levels.size() ? levels[s] : max_t);
    weights.push_back(static_cast<double>(all) / (static_cast<double>(all - s) * lowest));
  }
  return normalised(std::move(weights));
}

std::optional<double> syne_cutoff(const SortedNumbers& losses, double share, bool maximise) {
  const std::size_t n = losses.size();
  if (n < 2) return std::nullopt;
  const double quantile = maximise ? 1 - share : share;
  const double place = static_cast<double>(n - 1) * quantile + 1;
  const auto whole = static_cast<std::size_t>(place);
  const double rest = place - static_cast<double>(whole);
  const std::size_t left = maximise ? n - whole - 1 : whole - 1;
  const double g = maximise ? 1 - rest : rest;
  if (left + 1 >= n) return losses[left];  // share 1, or (maximised) so near to 0
  return g * losses[left + 1] + (1 - g) * losses[left];
}

}  // namespace attune
