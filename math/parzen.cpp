#include "math/parzen.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace attune {
namespace {

// exp(-kReach^2 / 2) = 6e-13: beyond, a component adds nothing that shows beside the prior's.
constexpr double kReach = 7.5;
constexpr double kMergeWidth = 0.25;
constexpr double kWhole = 8.5;  // the mass beyond so many deviations does not show beside 1

double upper_tail(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

// Inverse of upper_tail; plain double, the default policy computes in (slow) long double.
double upper_tail_inverse(double p) {
  using Policy = boost::math::policies::policy<
      boost::math::policies::promote_double<false>,
      boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
      boost::math::policies::domain_error<boost::math::policies::ignore_error>>;
  return std::numbers::sqrt2 * boost::math::erfc_inv(std::clamp(2 * p, 0.0, 2.0), Policy());
}

// P(a < Z < b), computed on the side of zero where nothing cancels.
double normal_mass(double a, double b) {
  if (a > 0) return upper_tail(a) - upper_tail(b);
  if (b < 0) return upper_tail(-b) - upper_tail(-a);
  return 0.5 * (std::erf(b / std::numbers::sqrt2) - std::erf(a / std::numbers::sqrt2));
}

// Z given a < Z < b, by inversion on the side of zero where the tail keeps its precision.
double truncated_normal(double a, double b, Rng& rng) {
  if (a < 0 && -a > b) return -truncated_normal(-b, -a, rng);
  const double from = upper_tail(a);
  const double to = upper_tail(b);
  return std::clamp(upper_tail_inverse(from + rng.uniform() * (to - from)), a, b);
}

}  // namespace

Parzen::Parzen(const WeightedPoints& observations, const ParzenPrior& prior)
    : low_(prior.low), high_(prior.high) {
  ATTUNE_CHECK(observations.points.size() == observations.weights.size());
  ATTUNE_CHECK(prior.weight > 0 && std::isnormal(prior.sigma / 100) && prior.sigma > 0);
  ATTUNE_CHECK(prior.low < prior.high && prior.low <= prior.mu && prior.mu <= prior.high);
  add_components(observations, prior);

  double total = 0;
  for (const Component& component : components_) total += component.weight;
  double inside = 0;
  cumulative_.reserve(components_.size());
  for (Component& component : components_) {
    const double share = component.weight / total;
    component.precision = 1 / component.sigma;
    component.height =
        share * component.precision * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    inside += share * mass_inside(component);
    cumulative_.push_back(inside);
  }
  log_inside_ = std::log(inside);
}

void Parzen::add_components(const WeightedPoints& observations, const ParzenPrior& prior) {
  const auto& [points, weights] = observations;
  const std::size_t n = points.size();
  narrow_sigma_ = prior.sigma / static_cast<double>(std::min<std::size_t>(100, n + 2));
  const double width = n >= kMergeFrom ? kMergeWidth * narrow_sigma_ : -1;

  // The prior is the neighbour of points[place - 1] and points[place].
  const auto place =
      static_cast<std::size_t>(std::ranges::lower_bound(points, prior.mu) - points.begin());
  const auto larger_gap = [&](std::size_t i) {
    const double left = i == place ? points[i] - prior.mu : i > 0 ? points[i] - points[i - 1] : 0;
    const double right = i + 1 == place ? prior.mu - points[i]
                         : i + 1 < n    ? points[i + 1] - points[i]
                                        : 0;
    // With a single observation, half the prior's deviation is NNI's choice.
    return n == 1 ? prior.sigma / 2 : std::max(left, right);
  };

  std::vector<Component> narrow;
  for (std::size_t i = 0; i < n;) {
    if (const double gap = larger_gap(i); gap > narrow_sigma_) {
      if (weights[i] > 0) {
        components_.push_back({points[i], std::min(gap, prior.sigma), weights[i]});
      }
      ++i;
      continue;
    }
    // One component of this point and those that follow closely: moments of the distance from it.
    const double start = points[i];
    double sum = weights[i], first = 0, second = 0;
    for (++i; i < n && points[i] - start <= width && larger_gap(i) <= narrow_sigma_; ++i) {
      const double distance = points[i] - start;
      const double moment = weights[i] * distance;
      sum += weights[i];
      first += moment;
      second += moment * distance;
    }
    if (sum == 0) continue;
    Component merged = {start, narrow_sigma_, sum};
    if (first > 0) {  // else all of it is at one place
      const double mean = first / sum;
      const double variance = std::max(0.0, second / sum - mean * mean);
      merged.mu = start + mean;
      merged.sigma = std::sqrt(narrow_sigma_ * narrow_sigma_ + variance);
    }
    narrow.push_back(merged);
  }
  components_.push_back({prior.mu, prior.sigma, prior.weight});
  narrow_begin_ = components_.size();
  components_.insert(components_.end(), narrow.begin(), narrow.end());
}

double Parzen::mass_inside(const Component& component) const {
  const double margin = kWhole * component.sigma;
  if (component.mu - low_ > margin && high_ - component.mu > margin) return 1;
  return normal_mass((low_ - component.mu) / component.sigma,
                     (high_ - component.mu) / component.sigma);
}

double Parzen::sample(Rng& rng) const {
  const double u = rng.uniform() * cumulative_.back();
  const auto found = std::ranges::upper_bound(cumulative_, u);
  const auto index = std::min(found - cumulative_.begin(), std::ssize(cumulative_) - 1);
  const Component& chosen = components_[static_cast<std::size_t>(index)];
  const double a = (low_ - chosen.mu) / chosen.sigma;
  const double b = (high_ - chosen.mu) / chosen.sigma;
  const double z = a < -kWhole && b > kWhole ? rng.normal() : truncated_normal(a, b, rng);
  return std::clamp(chosen.mu + z * chosen.sigma, low_, high_);
}

double Parzen::log_density(double x) const {
  return *log_density_below(x, std::numeric_limits<double>::infinity());
}

std::optional<double> Parzen::log_density_below(double x, double limit) const {
  if (!(x >= low_ && x <= high_)) return -std::numeric_limits<double>::infinity();
  const double most = std::exp(limit + log_inside_) * (1 + 1e-9);
  const double sum = density(x, most);
  if (sum > most) return std::nullopt;
  if (sum == 0) return log_density_far(x);
  return std::log(sum) - log_inside_;
}

// Not normalised to the interval. As soon as a part of the sum exceeds `most`, that part.
double Parzen::density(double x, double most) const {
  double sum = 0;
  const auto add = [&](const Component& component) {
    const double z = (x - component.mu) * component.precision;
    if (z > -kReach && z < kReach) sum += component.height * std::exp(-0.5 * z * z);
    return sum > most;
  };
  // Of components with ascending mu those within `reach` of x, outwards; whether it is too much.
  const auto add_around = [&](auto begin, auto end, double reach) {
    const auto middle =
        std::partition_point(begin, end, [&](const Component& c) { return c.mu < x; });
    for (auto it = middle; it != end && it->mu <= x + reach; ++it) {
      if (add(*it)) return true;
    }
    for (auto it = middle; it != begin && std::prev(it)->mu >= x - reach; --it) {
      if (add(*std::prev(it))) return true;
    }
    return false;
  };
  const auto narrow = components_.begin() + static_cast<std::ptrdiff_t>(narrow_begin_);
  // Merged ones are wider by at most 1%.
  if (add_around(narrow, components_.end(), kReach * 1.01 * narrow_sigma_)) return sum;
  const auto prior = std::prev(narrow);
  if (!add_around(components_.begin(), prior, std::numeric_limits<double>::infinity())) add(*prior);
  return sum;
}

// No component within reach: the sum in logarithms, around the largest term.
double Parzen::log_density_far(double x) const {
  const auto log_term = [&](const Component& component) {
    const double z = (x - component.mu) / component.sigma;
    return std::log(component.height) - 0.5 * z * z;
  };
  double largest = -std::numeric_limits<double>::infinity();
  for (const Component& component : components_) {
    largest = std::max(largest, log_term(component));
  }
  double sum = 0;
  for (const Component& component : components_) sum += std::exp(log_term(component) - largest);
  return largest + std::log(sum) - log_inside_;
}

}  // namespace attune
