#include "math/density/parzen.h"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/check.h"
#include "math/array_passes.h"
#include "math/normal_tail.h"

namespace attune {
namespace {

// Beyond so many deviations a component adds nothing that shows beside the prior's: exp(-kReach^2 /
// 2) = 6e-13.
constexpr double kReach = 7.5;
constexpr double kMergeWidth = 0.25;
constexpr double kWhole = 8.5;  // the mass beyond so many deviations is below rounding

// The inverse of upper_tail, in double: Boost's default policy would compute in long double, which
// is slow.
double upper_tail_inverse(double p) {
  using Policy = boost::math::policies::policy<
      boost::math::policies::promote_double<false>,
      boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
      boost::math::policies::domain_error<boost::math::policies::ignore_error>>;
  return std::numbers::sqrt2 * boost::math::erfc_inv(std::clamp(2 * p, 0.0, 2.0), Policy());
}

// P(a < Z < b), computed on that side of zero on which nothing cancels.
double normal_mass(double a, double b) {
  if (a > 0) return upper_tail(a) - upper_tail(b);
  if (b < 0) return upper_tail(-b) - upper_tail(-a);
  return 0.5 * (std::erf(b / std::numbers::sqrt2) - std::erf(a / std::numbers::sqrt2));
}

// Merged components are wider than the narrow ones by at most 1%.
constexpr double kMergedWidth = 1.01;

// For heights(), which computes in floats: heights are multiplied by this, so that small terms do
// not underflow.
constexpr double kHeightUnit = 1e12;
// heights() gives a sum only if it is above this share of all heights: smaller sums may lack terms
// that are out of reach, each below 6e-13 of its height.
constexpr float kLeftOut = 1e-7f;
// In deviations of the prior: heights() gives 0 for points that are further away.
constexpr float kFar = 1e4f;

constexpr std::size_t kLanes = ArrayPasses::kLanes;

std::size_t filled_up(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// For each point the larger of its distances to its two neighbours. The prior's mean counts as a
// neighbour.
std::vector<double> larger_gaps(const std::vector<double>& points, const ParzenPrior& prior) {
  const std::size_t n = points.size();
  std::vector<double> gaps(n);
  // With a single observation, half the prior's deviation is NNI's choice.
  if (n == 1) gaps[0] = prior.sigma / 2;
  if (n < 2) return gaps;
  gaps[0] = points[1] - points[0];
  gaps[n - 1] = points[n - 1] - points[n - 2];
  for (std::size_t i = 1; i + 1 < n; ++i) {
    gaps[i] = std::max(points[i] - points[i - 1], points[i + 1] - points[i]);
  }
  const auto place =
      static_cast<std::size_t>(std::ranges::lower_bound(points, prior.mu) - points.begin());
  if (place < n) {
    const double right = place + 1 < n ? points[place + 1] - points[place] : 0;
    gaps[place] = std::max(points[place] - prior.mu, right);
  }
  if (place > 0) {
    const double left = place > 1 ? points[place - 1] - points[place - 2] : 0;
    gaps[place - 1] = std::max(left, prior.mu - points[place - 1]);
  }
  return gaps;
}

}  // namespace

Parzen::Parzen(const WeightedPoints& observations, const ParzenPrior& prior) : prior_(prior) {
  ATTUNE_CHECK(observations.points.size() == observations.weights.size());
  ATTUNE_CHECK(prior.weight > 0 && std::isnormal(prior.sigma / 100) && prior.sigma > 0);
  ATTUNE_CHECK(prior.low < prior.high && prior.low <= prior.mu && prior.mu <= prior.high);
  add_components(observations);
  for (const Component& component : components_) total_ += component.weight;
  add_terms();
}

void Parzen::add_components(const WeightedPoints& observations) {
  const std::size_t n = observations.points.size();
  narrow_sigma_ = prior_.sigma / static_cast<double>(std::min<std::size_t>(100, n + 2));
  const std::vector<double> gaps = larger_gaps(observations.points, prior_);
  if (n < kMergeFrom) {
    add_each(observations, gaps);
  } else {
    add_merged(observations, gaps);
  }
}

// Without branches, because the processor cannot predict which components are wide.
void Parzen::add_each(const WeightedPoints& observations, std::span<const double> gaps) {
  const auto is_wide = [this](double gap) { return gap > narrow_sigma_; };
  std::size_t wide = 0;
  narrow_begin_ = static_cast<std::size_t>(std::ranges::count_if(gaps, is_wide)) + 1;
  std::size_t narrow = narrow_begin_;
  components_.resize(gaps.size() + 1);
  components_[narrow_begin_ - 1] = {prior_.mu, prior_.sigma, prior_.weight};
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const std::size_t at = is_wide(gaps[i]) ? wide : narrow;
    wide += is_wide(gaps[i]) ? 1 : 0;
    narrow += is_wide(gaps[i]) ? 0 : 1;
    components_[at] = {observations.points[i], std::clamp(gaps[i], narrow_sigma_, prior_.sigma),
                       observations.weights[i]};
  }
}

void Parzen::add_merged(const WeightedPoints& observations, std::span<const double> gaps) {
  const auto& [points, weights] = observations;
  std::vector<Component> narrow;
  narrow.reserve(kMergeFrom);
  const std::size_t n = gaps.size();
  const double width = kMergeWidth * narrow_sigma_;
  for (std::size_t i = 0; i < n;) {
    if (gaps[i] > narrow_sigma_) {
      components_.push_back({points[i], std::min(gaps[i], prior_.sigma), weights[i]});
      ++i;
      continue;
    }
    // Merges this point and those that follow closely. The moments are those of the distance from
    // this point.
    const double start = points[i];
    double sum = weights[i], first = 0, second = 0;
    for (++i; i < n && points[i] - start <= width && gaps[i] <= narrow_sigma_; ++i) {
      const double distance = points[i] - start;
      const double moment = weights[i] * distance;
      sum += weights[i];
      first += moment;
      second += moment * distance;
    }
    if (first > 0) {
      const double mean = first / sum;
      const double variance = std::max(0.0, second / sum - mean * mean);
      narrow.push_back({start + mean, std::sqrt(narrow_sigma_ * narrow_sigma_ + variance), sum});
    } else {  // all merged points are equal
      narrow.push_back({start, narrow_sigma_, sum});
    }
  }
  components_.push_back({prior_.mu, prior_.sigma, prior_.weight});
  narrow_begin_ = components_.size();
  components_.insert(components_.end(), narrow.begin(), narrow.end());
}

void Parzen::add_terms() {
  narrow_terms_ = filled_up(narrow_begin_);
  terms_.resize(4 * (narrow_terms_ + filled_up(components_.size() - narrow_begin_)));
  const std::size_t stride = terms_.size() / 4;
  const double per_sigma = 1 / prior_.sigma, per_weight = kHeightUnit / prior_.weight;
  double all = 0;
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const auto& [mu, sigma, weight] = components_[i];
    const double precision = prior_.sigma / sigma;
    // At twice kFar no component has an effect, because no deviation is larger than the prior's.
    const TwoFloats mean =
        two_floats(std::clamp<double>((mu - prior_.mu) * per_sigma, -2 * kFar, 2 * kFar));
    const double height = weight * per_weight * precision;
    float* term = &terms_[i < narrow_begin_ ? i : narrow_terms_ + (i - narrow_begin_)];
    term[0] = mean.high;
    term[stride] = mean.low;
    term[2 * stride] = static_cast<float>(precision * (1 / std::numbers::sqrt2));
    term[3 * stride] = static_cast<float>(height);
    all += height;
  }
  firsts_.reserve((stride - narrow_terms_) / kLanes);
  for (std::size_t i = narrow_terms_; i < stride; i += kLanes) firsts_.push_back(terms_[i]);
  told_from_ = kLeftOut * static_cast<float>(all);
}

void Parzen::heights(std::span<const double> x, std::span<double> heights) const {
  ATTUNE_CHECK(x.size() == heights.size());
  const std::size_t stride = terms_.size() / 4;
  const std::span<const float> all = terms_;
  const NormalTerms terms = {all.first(stride), all.subspan(stride, stride),
                             all.subspan(2 * stride, stride), all.subspan(3 * stride, stride)};
  std::array<NormalWindow, 32> windows;
  std::array<float, windows.size()> sums;
  for (std::size_t from = 0; from < x.size(); from += windows.size()) {
    const std::size_t n = std::min(windows.size(), x.size() - from);
    for (std::size_t i = 0; i < n; ++i) windows[i] = window(x[from + i]);
    array_passes().sums_of_normals(terms, narrow_terms_, std::span(windows).first(n), sums);
    for (std::size_t i = 0; i < n; ++i) {
      const bool told = sums[i] >= told_from_ && std::abs(windows[i].x.high) < kFar;
      heights[from + i] = told ? static_cast<double>(sums[i]) : 0;
    }
  }
}

// The narrow components that may have an effect at x.
NormalWindow Parzen::window(double x) const {
  const double per_sigma = 1 / prior_.sigma;
  const auto reach = static_cast<float>(kReach * kMergedWidth * narrow_sigma_ * per_sigma);
  const TwoFloats at = two_floats(std::clamp<double>((x - prior_.mu) * per_sigma, -kFar, kFar));
  // Counted without branches, because the processor cannot predict the turns of a binary search.
  std::uint32_t before = 0, until = 0;
  for (const float first : firsts_) {
    before += first <= at.high - reach ? 1 : 0;
    until += first <= at.high + reach ? 1 : 0;
  }
  return {at, narrow_terms_ + kLanes * (before - (before > 0 ? 1 : 0)),
          narrow_terms_ + kLanes * until};
}

double Parzen::mass_inside(const Component& component) const {
  const double margin = kWhole * component.sigma;
  if (component.mu - prior_.low > margin && prior_.high - component.mu > margin) return 1;
  return normal_mass((prior_.low - component.mu) / component.sigma,
                     (prior_.high - component.mu) / component.sigma);
}

double Parzen::log_mass() const {
  double inside = 0;
  for (const Component& component : components_) {
    inside += component.weight / total_ * mass_inside(component);
  }
  return std::log(inside);
}

double Parzen::height(const Component& component) const {
  return component.weight / total_ / component.sigma *
         (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}

double Parzen::log_height(double x) const {
  if (!(x >= prior_.low && x <= prior_.high)) return -std::numeric_limits<double>::infinity();
  const double sum = density(x);
  return sum == 0 ? log_height_far(x) : std::log(sum);
}

double Parzen::density(double x) const {
  double sum = 0;
  const auto add = [&](const Component& component) {
    const double z = (x - component.mu) / component.sigma;
    if (z > -kReach && z < kReach) sum += height(component) * std::exp(-0.5 * z * z);
  };
  const auto wide = std::span(components_).first(narrow_begin_);
  const auto narrow = std::span(components_).subspan(narrow_begin_);
  for (const Component& component : wide) add(component);
  const double reach = kReach * kMergedWidth * narrow_sigma_;
  for (auto it = std::ranges::lower_bound(narrow, x - reach, {}, &Component::mu);
       it != narrow.end() && it->mu <= x + reach; ++it) {
    add(*it);
  }
  return sum;
}

// The height where no component is within reach: sums logarithms, relative to the largest term.
double Parzen::log_height_far(double x) const {
  const auto log_term = [&](const Component& component) {
    const double z = (x - component.mu) / component.sigma;
    return std::log(height(component)) - 0.5 * z * z;
  };
  double largest = -std::numeric_limits<double>::infinity();
  for (const Component& component : components_) {
    largest = std::max(largest, log_term(component));
  }
  double sum = 0;
  for (const Component& component : components_) sum += std::exp(log_term(component) - largest);
  return largest + std::log(sum);
}

Parzen::Sampler::Sampler(const Parzen& parzen)
    : low_(parzen.prior_.low), high_(parzen.prior_.high) {
  components_.reserve(parzen.components_.size());
  cumulative_.reserve(parzen.components_.size());
  double inside = 0;
  for (const Parzen::Component& component : parzen.components_) {
    inside += component.weight / parzen.total_ * parzen.mass_inside(component);
    cumulative_.push_back(inside);
    Component& drawn = components_.emplace_back();
    drawn.mu = component.mu;
    drawn.sigma = component.sigma;
    // The bounds, as deviations from the component's mean.
    drawn.a = (low_ - drawn.mu) / drawn.sigma;
    drawn.b = (high_ - drawn.mu) / drawn.sigma;
    drawn.whole = drawn.a < -kWhole && drawn.b > kWhole;
    // Draws by inversion, on that side of zero on which the tail keeps its precision.
    drawn.mirror = drawn.a < 0 && -drawn.a > drawn.b;
    if (drawn.mirror) drawn.a = -std::exchange(drawn.b, -drawn.a);
    drawn.from = upper_tail(drawn.a);
    drawn.to = upper_tail(drawn.b);
  }
}

double Parzen::Sampler::operator()(Rng& rng) const {
  const double u = rng.uniform() * cumulative_.back();
  const auto found = std::ranges::upper_bound(cumulative_, u);
  const auto index = std::min(found - cumulative_.begin(), std::ssize(cumulative_) - 1);
  const Component& chosen = components_[static_cast<std::size_t>(index)];
  double z = 0;
  if (chosen.whole) {
    z = rng.normal();
  } else {
    const double tail = chosen.from + rng.uniform() * (chosen.to - chosen.from);
    z = std::clamp(upper_tail_inverse(tail), chosen.a, chosen.b);
    if (chosen.mirror) z = -z;
  }
  return std::clamp(chosen.mu + z * chosen.sigma, low_, high_);
}

}  // namespace attune
