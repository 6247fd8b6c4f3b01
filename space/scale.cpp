#include "space/scale.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

namespace attune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();

double round_to(const std::optional<double>& q, double x) {
  if (!q) return x;
  const double value = multiple_of(*q, x) * *q;
  return std::isfinite(value) ? value : x;  // x / q overflowed: x is a multiple as far as one sees
}

double internal(bool log, double natural) { return log ? std::log(natural) : natural; }

}  // namespace

double natural(const Uniform& domain, double x) { return domain.log ? std::exp(x) : x; }
double natural(const Normal& domain, double x) { return domain.log ? std::exp(x) : x; }

// + 0.0 turns -0.0 into 0.0: both are written differently and would count as two values.
double multiple_of(double q, double x) { return std::nearbyint(x / q) + 0.0; }

double value_at(const Uniform& domain, double x) {
  return std::clamp(round_to(domain.q, natural(domain, x)), domain.low, domain.high);
}

double value_at(const Normal& domain, double x) {
  return std::clamp(round_to(domain.q, std::clamp(natural(domain, x), -kLargest, kLargest)),
                    -kLargest, kLargest);
}

double quantile(const Uniform& domain, double p) {
  const double low = internal(domain.log, domain.low);
  const double high = internal(domain.log, domain.high);
  // Exact at the ends, which low + (high - low) * 1 is not always.
  if (p <= 0) return low;
  if (p >= 1) return high;
  return low + (high - low) * p;
}

double quantile(const Normal& domain, double p) {
  if (domain.sigma == 0) return domain.mu;
  if (p <= 0) return -kInfinity;
  if (p >= 1) return kInfinity;
  const double y = 2 * p - 1;
  if (y <= -1) return -kInfinity;  // p is too small for 2p - 1 to differ from -1
  // With Boost's default policy, which computes in long double and rounds once: these are the
  // digits that NNI's grid search gives. In plain double -1.1503493803760083 ends in ...81.
  return domain.mu + domain.sigma * std::numbers::sqrt2 * boost::math::erf_inv(y);
}

double finite_quantile(const Normal& domain, double p) {
  constexpr double kSmallest = 0x1p-53;  // 1 - kSmallest is the largest double below 1
  return quantile(domain, std::clamp(p, kSmallest, 1 - kSmallest));
}

double probability(const Uniform& domain, double x) {
  const double low = internal(domain.log, domain.low);
  const double high = internal(domain.log, domain.high);
  return low < high ? std::clamp((x - low) / (high - low), 0.0, 1.0) : 0.5;
}

double probability(const Normal& domain, double x) {
  if (domain.sigma == 0) return 0.5;
  return 0.5 * std::erfc((domain.mu - x) / (domain.sigma * std::numbers::sqrt2));
}

}  // namespace attune
