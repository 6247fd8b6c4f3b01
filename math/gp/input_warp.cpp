#include "math/gp/input_warp.h"

#include <cmath>

namespace attune {
namespace {

constexpr double kInside = 1e-3;

}  // namespace

Warped warped(const Warp& warp, double x) {
  const double a = std::exp(warp.log_a), b = std::exp(warp.log_b);
  const double t = kInside + (1 - 2 * kInside) * x;
  const double log_t = std::log(t);
  const double power = std::exp(a * log_t);        // t^a
  const double log_rest = std::log1p(-power);      // of 1 - t^a
  const double tail = std::exp(b * log_rest);      // (1 - t^a)^b
  const double by_power = b * tail / (1 - power);  // of the value
  return {1 - tail, by_power * a * power / t * (1 - 2 * kInside), by_power * a * power * log_t,
          -b * tail * log_rest};
}

}  // namespace attune
