#include "space/sample.h"

#include <algorithm>
#include <cmath>

#include "space/scale.h"

namespace attune {
namespace {

double draw(const Choice& domain, Rng& rng) {
  return static_cast<double>(rng.index(domain.candidates.size()));
}

// Selection sampling (Knuth, TAOCP 3.4.2, algorithm S): every subset is equally likely.
double draw(const Subset& domain, Rng& rng) {
  std::uint64_t mask = 0;
  std::size_t wanted = domain.chosen;
  const std::size_t n = domain.candidates.size();
  for (std::size_t i = 0; i < n && wanted > 0; ++i) {
    if (rng.index(n - i) < wanted) {
      mask |= std::uint64_t{1} << i;
      --wanted;
    }
  }
  return static_cast<double>(mask);
}

double draw(const IntRange& domain, Rng& rng) {
  return static_cast<double>(rng.integer(domain.low, domain.high));
}

double draw(const Uniform& domain, Rng& rng) {
  return value_at(domain, rng.uniform(quantile(domain, 0), quantile(domain, 1)));
}

double draw(const Normal& domain, Rng& rng) {
  return value_at(domain, domain.mu + domain.sigma * rng.normal());
}

double value_at(const Choice&, double x) { return x; }
double value_at(const Subset&, double x) { return x; }

double value_at(const IntRange& domain, double x) {
  return std::clamp(std::nearbyint(x) + 0.0, static_cast<double>(domain.low),
                    static_cast<double>(domain.high - 1));
}

// What stands for a value of a log domain whose logarithm does not exist (0 of a qlognormal, or an
// exponential that underflowed): finite, and it rounds back to that value.
double log_of_zero(const std::optional<double>& q) {
  return std::log(q ? *q / 4 : std::numeric_limits<double>::denorm_min());
}

}  // namespace

Point sample(const Space& space, Rng& rng) {
  Point point{std::vector<double>(space.params.size(), Point::kInactive)};
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    if (is_active(space, point, i)) point.values[i] = sample(space.params[i].domain, rng);
  }
  return point;
}

double sample(const Domain& domain, Rng& rng) {
  return std::visit([&](const auto& d) { return draw(d, rng); }, domain);
}

double from_internal(const Domain& domain, double x) {
  return std::visit([&](const auto& d) { return value_at(d, x); }, domain);
}

double to_internal(const Domain& domain, double value) {
  const auto* uniform = std::get_if<Uniform>(&domain);
  const auto* normal = std::get_if<Normal>(&domain);
  if (!(uniform && uniform->log) && !(normal && normal->log)) return value;
  if (value <= 0) return log_of_zero(normal ? normal->q : uniform->q);
  return std::log(value);
}

}  // namespace attune
