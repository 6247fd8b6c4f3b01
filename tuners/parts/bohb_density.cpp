#include "tuners/parts/bohb_density.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace attune {
namespace bohb_density {
namespace {

using Trials = std::vector<const TpeGroups::Coordinate*>;

constexpr double kLeastDensity = 1e-32;

// `count` trials from the `first` one on in the order of losses; of too many, evenly spaced ones.
Trials trials_of(const TpeHistory& history, std::size_t group, std::size_t first,
                 std::size_t count) {
  const std::vector<std::uint32_t>& order = history.by_loss(group);
  const std::size_t kept = std::min(count, BohbDensity::kMostKernels);
  Trials trials;
  for (std::size_t k = 0; k < kept; ++k) {
    // The middle one of each of `kept` equal parts.
    const std::size_t rank = first + (2 * k + 1) * count / (2 * kept);
    trials.push_back(history.coordinates(order[rank]));
  }
  return trials;
}

// The deviation of the values of a variable; those that are missing do not count.
double deviation(const MixtureAxis& axis, std::size_t variable,
                 std::span<const Trials::value_type> trials) {
  double n = 0, sum = 0, squares = 0;
  std::map<double, double> counts;
  for (const auto* trial : trials) {
    const double x = trial[variable].x;
    if (std::isnan(x)) continue;
    ++n;
    sum += x;
    if (axis.categories > 0) ++counts[x];
  }
  if (n == 0) return 0;
  if (axis.categories > 0) {
    double same = 0;
    for (const auto& [category, count] : counts) same += count / n * (count / n);
    return std::sqrt(std::max(0.0, (1 - same) / 2));
  }
  for (const auto* trial : trials) {
    const double x = trial[variable].x;
    if (!std::isnan(x)) squares += (x - sum / n) * (x - sum / n);
  }
  return std::sqrt(squares / n);
}

// One component for each trial. `factor` widens the kernels of numbers.
ProductMixture mixture(const TpeGroups& groups, const TpeGroups::Group& group, const Trials& trials,
                       std::span<const double> bandwidths, double factor) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<MixtureAxis> axes;
  std::vector<MixtureKernel> kernels;
  for (std::size_t a = 0; a < group.size(); ++a) {
    const MixtureAxis& axis = groups.variables()[group[a]].axis;
    axes.push_back(axis);
    const double k = axis.categories;
    const double width = k > 0 ? std::min(bandwidths[a] * k / (k - 1), 1.0)
                               : std::min(bandwidths[a] * factor, axis.high - axis.low);
    for (const auto* trial : trials) {
      const auto& [x, cell] = trial[group[a]];
      if (!std::isnan(x)) {
        kernels.push_back({.centre = x, .width = width, .cell = k > 0 ? 0 : cell});
      } else if (k > 0 || std::isinf(axis.low)) {
        kernels.push_back({.width = 1});  // unknown: any category, or the declared normal
      } else {
        kernels.push_back({.centre = axis.low, .width = kInfinity});
      }
    }
  }
  return {axes, kernels, std::vector<double>(trials.size(), 1.0)};
}

ProductMixture density(const TpeHistory& history, std::size_t group, std::size_t first,
                       std::size_t count, const BohbModelSettings& settings, double factor) {
  const TpeGroups& groups = history.groups();
  const Trials trials = trials_of(history, group, first, count);
  const auto bandwidths =
      bohb_bandwidths(groups, groups.groups()[group], trials, settings.min_bandwidth);
  return mixture(groups, groups.groups()[group], trials, bandwidths, factor);
}

}  // namespace
}  // namespace bohb_density

std::optional<BohbSplit> bohb_split(std::size_t results, std::size_t usable, std::size_t variables,
                                    const BohbModelSettings& settings) {
  const std::size_t least = std::max(settings.min_points, variables + 1);
  const std::size_t good = std::max(least, settings.top_percent * results / 100);
  const std::size_t bad = std::max(least, (100 - settings.top_percent) * results / 100);
  if (usable < good || results < good + variables + 1) return std::nullopt;
  return BohbSplit{good, std::min(bad, results - good)};
}

std::vector<double> bohb_bandwidths(const TpeGroups& groups, const TpeGroups::Group& group,
                                    std::span<const TpeGroups::Coordinate* const> trials,
                                    double min_bandwidth) {
  const double shrink =
      std::pow(static_cast<double>(trials.size()), -1 / (4 + static_cast<double>(group.size())));
  std::vector<double> bandwidths;
  for (const std::size_t variable : group) {
    const MixtureAxis& axis = groups.variables()[variable].axis;
    double width = 1.06 * bohb_density::deviation(axis, variable, trials) * shrink;
    width = std::max(width, min_bandwidth);
    if (axis.categories > 0) width = std::min(width, (axis.categories - 1) / axis.categories);
    bandwidths.push_back(width);
  }
  return bandwidths;
}

BohbDensity::BohbDensity(const TpeHistory& history, std::size_t group, const BohbSplit& split,
                         const BohbModelSettings& settings)
    : groups_(&history.groups()),
      group_(&history.groups().groups()[group]),
      good_(bohb_density::density(history, group, 0, split.good, settings, 1)),
      bad_(bohb_density::density(history, group, split.good, split.bad, settings, 1)),
      wide_(bohb_density::density(history, group, 0, split.good, settings,
                                  settings.bandwidth_factor)) {}

std::vector<double> BohbDensity::log_ratios(std::span<const double> points) const {
  const std::size_t count = points.size() / group_->size();
  std::vector<double> ratios(count), others(count);
  good_.log_densities(points, ratios);
  bad_.log_densities(points, others);
  const double least = std::log(bohb_density::kLeastDensity);
  for (std::size_t i = 0; i < count; ++i) {
    ratios[i] = std::max(ratios[i], least) - std::max(others[i], least);
  }
  return ratios;
}

std::vector<double> BohbDensity::suggest(std::size_t count, Rng& rng) const {
  const std::size_t d = group_->size();
  std::vector<double> candidates(count * d);
  for (std::size_t c = 0; c < count; ++c) {
    const std::span candidate = std::span(candidates).subspan(c * d, d);
    wide_.sample(rng, candidate);
    for (std::size_t a = 0; a < d; ++a) {
      candidate[a] = groups_->rounded((*group_)[a], candidate[a], rng);
    }
  }
  const std::vector<double> ratios = log_ratios(candidates);
  const auto best = std::ranges::max_element(ratios) - ratios.begin();
  const auto begin = candidates.begin() + best * static_cast<std::ptrdiff_t>(d);
  return {begin, begin + static_cast<std::ptrdiff_t>(d)};
}

}  // namespace attune
