#include "math/variation.h"

#include <algorithm>
#include <cmath>

namespace attune {

double simulated_binary_crossover(double a, double b, double eta, Rng& rng) {
  const double low = std::min(a, b), high = std::max(a, b), gap = high - low;
  const bool upper = rng.index(2) == 1;
  const double u = rng.uniform();
  if (!(gap > 0)) return a;
  // `limit`: how far a child may be from the middle, in halves of the gap. `mass`: the random
  // number, restricted to the part of the spread's distribution that is within this limit.
  const double limit = 1 + 2 * (upper ? 1 - high : low) / gap;
  const double mass = u * (2 - std::pow(limit, -(eta + 1)));
  const double spread = std::pow(mass <= 1 ? mass : 1 / (2 - mass), 1 / (eta + 1));
  const double middle = low + gap / 2;
  return std::clamp(middle + (upper ? gap : -gap) / 2 * spread, 0.0, 1.0);
}

double polynomial_mutation(double x, double eta, Rng& rng) {
  const double u = rng.uniform();
  const bool up = u >= 0.5;
  const double room = up ? 1 - x : x;
  const double mass = up ? 2 * (1 - u) : 2 * u;
  const double cut = std::pow(1 - room, eta + 1);
  const double step = 1 - std::pow(mass + (1 - mass) * cut, 1 / (eta + 1));
  return std::clamp(up ? x + step : x - step, 0.0, 1.0);
}

}  // namespace attune
