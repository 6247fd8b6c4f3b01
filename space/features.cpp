#include "space/features.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/overloaded.h"
#include "space/sample.h"
#include "space/scale.h"

namespace attune {
namespace {

constexpr double kMostLevels = 1e6;

std::size_t level_count(double levels) {
  return levels > 0 && levels <= kMostLevels ? static_cast<std::size_t>(levels) : 0;
}

std::size_t levels(const Uniform& d) {
  if (!d.q) return 0;
  return level_count(multiple_of(*d.q, d.high) - multiple_of(*d.q, d.low) + 1);
}

// How many of the steps 0, 1, ... lie at or below x. The tolerance is for the rounding in x.
double steps_up_to(double x, double steps) {
  return std::clamp(std::floor(x + 1e-9) + 1, 0.0, steps);
}

// A real with q has the value at the last multiple below x also where x is up to half a step more.
template <class Real>
double drawn_up_to(const Real& d, double position) {
  if (!d.q || position >= 1) return std::clamp(position, 0.0, 1.0);
  const double x = natural(d, quantile(d, position));
  // Zero has no logarithm: its position is that of a quarter of q.
  if (std::is_same_v<Real, Normal> && d.log && x < 0.25 * *d.q * (1 - 1e-9)) return 0;
  const double multiple = std::floor(x / *d.q + 1e-9);
  const double end = (multiple + 0.5) * *d.q;
  return probability(d, d.log ? std::log(end) : end);
}

// Whether values differ, and by enough for arithmetic.
bool varies(const Uniform& d) {
  return std::isnormal(quantile(d, 1) - quantile(d, 0)) &&
         value_at(d, quantile(d, 0)) < value_at(d, quantile(d, 1));
}

}  // namespace

Features::Features(const Space& space) : space_(space) {
  for (std::size_t i = 0; i < space_.params.size(); ++i) {
    std::size_t j = 0;
    while (j < i && !shares(i, j)) ++j;
    columns_.push_back(j < i ? columns_[j] : add(space_.params[i]));
  }
}

std::vector<std::size_t> Features::categories() const {
  std::vector<std::size_t> all;
  for (const Dimension& dimension : dimensions_) all.push_back(dimension.categories);
  return all;
}

// Whether i and j have the same name and domain, in two options of one choice, or of two choices
// that share a dimension themselves.
bool Features::shares(std::size_t i, std::size_t j) const {
  const Param& a = space_.params[i];
  const Param& b = space_.params[j];
  if (!a.condition || !b.condition || a.condition == b.condition) return false;
  const std::size_t parent = a.condition->parent;
  const std::size_t other = b.condition->parent;
  const bool related = parent == other || (columns_[parent].count > 0 &&
                                           columns_[parent].first == columns_[other].first);
  return related && a.name == b.name && a.domain == b.domain;
}

Features::Column Features::add(const Param& param) {
  Column column{.first = dimensions_.size()};
  const auto add_position = [&](std::size_t n) { dimensions_.push_back({.levels = n}); };
  std::visit(Overloaded{
                 [&](const Choice& d) {
                   const auto n = d.candidates.size();
                   column.scale = d.is_scale();
                   if (column.scale) {
                     add_position(n);
                   } else if (n > 1) {
                     dimensions_.push_back({.categories = n});
                   }
                 },
                 [&](const Subset& d) {
                   if (d.chosen == 0 || d.chosen == d.candidates.size()) return;
                   dimensions_.resize(dimensions_.size() + d.candidates.size(), {.categories = 2});
                 },
                 [&](const IntRange& d) {
                   const double n = static_cast<double>(d.high) - static_cast<double>(d.low);
                   if (n > 1) add_position(level_count(n));
                 },
                 [&](const Uniform& d) {
                   if (varies(d)) add_position(levels(d));
                 },
                 [&](const Normal& d) {
                   if (std::isnormal(d.sigma)) add_position(0);
                 },
             },
             param.domain);
  column.count = dimensions_.size() - column.first;
  return column;
}

void Features::encode(const Point& point, std::span<double> row) const {
  ATTUNE_CHECK(point.values.size() == columns_.size() && row.size() == size());
  std::ranges::fill(row, Point::kInactive);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (!point.active(i) || column.count == 0) continue;
    const double value = point.values[i];
    double& x = row[column.first];
    std::visit(Overloaded{
                   [&](const Choice& d) {
                     const auto index = d.canonical.at(static_cast<std::size_t>(value));
                     const auto last = static_cast<double>(d.candidates.size() - 1);
                     x = static_cast<double>(index) / (column.scale ? last : 1);
                   },
                   [&](const Subset&) {
                     const auto mask = static_cast<std::uint64_t>(value);
                     for (std::size_t k = 0; k < column.count; ++k) {
                       row[column.first + k] = static_cast<double>(mask >> k & 1);
                     }
                   },
                   [&](const auto&) { x = position_of(i, value); },
               },
               space_.params[i].domain);
  }
}

std::vector<double> Features::encode(const Point& point) const {
  std::vector<double> row(size());
  encode(point, row);
  return row;
}

std::optional<std::size_t> Features::position(std::size_t i) const {
  const Column& column = columns_[i];
  if (column.count != 1 || dimensions_[column.first].categories > 0) return std::nullopt;
  return column.first;
}

double Features::position_of(std::size_t i, double value) const {
  return std::visit(
      Overloaded{
          [&](const Choice& d) { return value / static_cast<double>(d.candidates.size() - 1); },
          [&](const Subset&) -> double { ATTUNE_CHECK(false); },
          [&](const IntRange& d) {
            const auto low = static_cast<double>(d.low);
            return (value - low + 0.5) / (static_cast<double>(d.high) - low);
          },
          [&](const auto& d) {
            return probability(d, to_internal(space_.params[i].domain, value));
          },
      },
      space_.params[i].domain);
}

double Features::value(std::size_t i, double position) const {
  const double p = std::clamp(position, 0.0, 1.0);
  return std::visit(Overloaded{
                        [&](const Choice& d) {
                          return std::nearbyint(p * static_cast<double>(d.candidates.size() - 1));
                        },
                        [&](const Subset&) -> double { ATTUNE_CHECK(false); },
                        [&](const IntRange& d) {
                          const auto low = static_cast<double>(d.low);
                          const auto high = static_cast<double>(d.high);
                          return std::clamp(low + std::floor(p * (high - low)), low, high - 1);
                        },
                        [&](const Uniform& d) { return value_at(d, quantile(d, p)); },
                        [&](const Normal& d) { return value_at(d, finite_quantile(d, p)); },
                    },
                    space_.params[i].domain);
}

double Features::probability_up_to(std::size_t i, double position) const {
  return std::visit(Overloaded{
                        [&](const Choice& d) {
                          const auto n = static_cast<double>(d.candidates.size());
                          return steps_up_to(position * (n - 1), n) / n;
                        },
                        [&](const Subset&) -> double { ATTUNE_CHECK(false); },
                        [&](const IntRange& d) {
                          const double n = static_cast<double>(d.high) - static_cast<double>(d.low);
                          return steps_up_to(position * n - 0.5, n) / n;
                        },
                        [&](const auto& d) { return drawn_up_to(d, position); },
                    },
                    space_.params[i].domain);
}

}  // namespace attune
