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
  const bool merge = n >= kMergeFrom;

  std::vector<Component> narrow;
  // The open group of merged components: where it starts, and moments of the distance from there.
  double start = 0, sum = 0, first = 0, second = 0;
  const auto close_group = [&] {
    if (sum == 0) return;
    Component merged = {start, narrow_sigma_, sum};
    if (first > 0) {  // else all of it is at one place
      const double mean = first / sum;
      const double variance = std::max(0.0, second / sum - mean * mean);
      merged.mu = start + mean;
      merged.sigma = std::sqrt(narrow_sigma_ * narrow_sigma_ + variance);
    }
    narrow.push_back(merged);
    sum = first = second = 0;
  };

  // The prior is the neighbour of points[place - 1] and points[place].
  const auto place =
      static_cast<std::size_t>(std::ranges::lower_bound(points, prior.mu) - points.begin());
  for (std::size_t i = 0; i < n; ++i) {
    if (weights[i] == 0) continue;
    const double left = i == place ? points[i] - prior.mu : i > 0 ? points[i] - points[i - 1] : 0;
    const double right = i + 1 == place ? prior.mu - points[i]
                         : i + 1 < n    ? points[i + 1] - points[i]
                                        : 0;
    // With a single observation, half the prior's deviation is NNI's choice.
    const double gap = n == 1 ? prior.sigma / 2 : std::max(left, right);
    if (gap > narrow_sigma_) {
      components_.push_back({points[i], std::min(gap, prior.sigma), weights[i]});
    } else if (!merge) {
      narrow.push_back({points[i], narrow_sigma_, weights[i]});
    } else {
      if (sum > 0 && points[i] - start > kMergeWidth * narrow_sigma_) close_group();
      if (sum == 0) start = points[i];
      const double distance = points[i] - start;
      sum += weights[i];
      first += weights[i] * distance;
      second += weights[i] * distance * distance;
    }
  }
  close_group();
  components_.push_back({prior.mu, prior.sigma, prior.weight});
  narrow_begin_ = components_.size();
  components_.insert(components_.end(), narrow.begin(), narrow.end());
}

double Parzen::mass_inside(const Component& component) const {
  const double a = (low_ - component.mu) / component.sigma;
  const double b = (high_ - component.mu) / component.sigma;
  return a < -8.5 && b > 8.5 ? 1 : normal_mass(a, b);
}

double Parzen::sample(Rng& rng) const {
  const double u = rng.uniform() * cumulative_.back();
  const auto found = std::ranges::upper_bound(cumulative_, u);
  const auto index = std::min(found - cumulative_.begin(), std::ssize(cumulative_) - 1);
  const Component& chosen = components_[static_cast<std::size_t>(index)];
  const double a = (low_ - chosen.mu) / chosen.sigma;
  const double b = (high_ - chosen.mu) / chosen.sigma;
  const double z = a < -8.5 && b > 8.5 ? rng.normal() : truncated_normal(a, b, rng);
  return std::clamp(chosen.mu + z * chosen.sigma, low_, high_);
}

double Parzen::log_density(double x) const {
  if (!(x >= low_ && x <= high_)) return -std::numeric_limits<double>::infinity();
  double density = 0;
  const auto add = [&](const Component& component) {
    const double z = (x - component.mu) * component.precision;
    if (z > -kReach && z < kReach) density += component.height * std::exp(-0.5 * z * z);
  };
  for (std::size_t i = 0; i < narrow_begin_; ++i) add(components_[i]);
  // Merged ones are wider by at most 1%.
  const double reach = kReach * 1.01 * narrow_sigma_;
  const auto from =
      std::partition_point(components_.begin() + static_cast<std::ptrdiff_t>(narrow_begin_),
                           components_.end(), [&](const Component& c) { return c.mu < x - reach; });
  for (auto it = from; it != components_.end() && it->mu <= x + reach; ++it) add(*it);
  if (density == 0) return log_density_far(x);
  return std::log(density) - log_inside_;
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
