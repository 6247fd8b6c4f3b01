#include "space/unit_cube.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/overloaded.h"
#include "space/sample.h"
#include "space/scale.h"

namespace attune {
namespace {

constexpr double kCentre = 0.5;

std::size_t width(const Domain& domain) {
  if (const auto* choice = std::get_if<Choice>(&domain)) return choice->candidates.size();
  if (const auto* subset = std::get_if<Subset>(&domain)) return subset->candidates.size();
  return 1;
}

bool has_bit(std::uint64_t mask, std::size_t i) { return (mask >> i & 1) != 0; }

void write(const Domain& domain, double value, std::span<double> x) {
  std::visit(Overloaded{
                 [&](const Choice&) {
                   std::ranges::fill(x, 0.0);
                   const auto chosen = static_cast<std::size_t>(value);
                   ATTUNE_CHECK(chosen < x.size());
                   x[chosen] = 1;
                 },
                 [&](const Subset&) {
                   const auto mask = static_cast<std::uint64_t>(value);
                   for (std::size_t i = 0; i < x.size(); ++i) x[i] = has_bit(mask, i) ? 1 : 0;
                 },
                 [&](const IntRange& d) {
                   const auto low = static_cast<double>(d.low);
                   x[0] = (value - low + 0.5) / (static_cast<double>(d.high) - low);
                 },
                 [&](const auto& real) { x[0] = probability(real, to_internal(domain, value)); },
             },
             domain);
}

double read(const Choice&, std::span<const double> x) {
  return static_cast<double>(std::ranges::max_element(x) - x.begin());
}

double read(const Subset& domain, std::span<const double> x) {
  std::vector<std::size_t> order(x.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Not stable_sort: libstdc++ 12's calls what clang warns of as deprecated.
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return x[a] != x[b] ? x[a] > x[b] : a < b; });
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < domain.chosen; ++i) mask |= std::uint64_t{1} << order[i];
  return static_cast<double>(mask);
}

double read(const IntRange& domain, std::span<const double> x) {
  const auto low = static_cast<double>(domain.low);
  const auto high = static_cast<double>(domain.high);
  return std::clamp(low + std::floor(x[0] * (high - low)), low, high - 1);
}

double read(const Uniform& domain, std::span<const double> x) {
  return value_at(domain, quantile(domain, x[0]));
}

double read(const Normal& domain, std::span<const double> x) {
  return value_at(domain, finite_quantile(domain, x[0]));
}

}  // namespace

UnitCube::UnitCube(const Space& space) : space_(space) {
  for (const Param& param : space_.params) dimensions_ += width(param.domain);
}

std::vector<double> UnitCube::to_cube(const Point& point) const {
  ATTUNE_CHECK(point.values.size() == space_.params.size());
  std::vector<double> x(dimensions_, kCentre);
  std::size_t at = 0;
  for (std::size_t i = 0; i < space_.params.size(); ++i) {
    const Domain& domain = space_.params[i].domain;
    const std::size_t n = width(domain);
    if (point.active(i)) write(domain, point.values[i], std::span(x).subspan(at, n));
    at += n;
  }
  return x;
}

Point UnitCube::from_cube(std::span<const double> given) const {
  ATTUNE_CHECK(given.size() == dimensions_);
  std::vector<double> x;
  for (const double c : given) x.push_back(std::isnan(c) ? kCentre : std::clamp(c, 0.0, 1.0));
  Point point{std::vector<double>(space_.params.size(), Point::kInactive)};
  std::size_t at = 0;
  for (std::size_t i = 0; i < space_.params.size(); ++i) {
    const Domain& domain = space_.params[i].domain;
    const auto group = std::span<const double>(x).subspan(at, width(domain));
    if (is_active(space_, point, i)) {
      point.values[i] = std::visit([&](const auto& d) { return read(d, group); }, domain);
    }
    at += group.size();
  }
  return point;
}

}  // namespace attune
