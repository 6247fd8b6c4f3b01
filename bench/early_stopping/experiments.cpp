#include "bench/early_stopping/experiments.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

// What is still to be learned at each epoch, from about 1 towards 0.
std::vector<double> remainders(Rng& rng) {
  std::vector<double> left;
  const std::size_t form = rng.index(3);
  const double rate = std::exp(rng.uniform(std::log(0.3), std::log(1.5)));   // of a power law
  const double time = std::exp(rng.uniform(std::log(1.0), std::log(12.0)));  // of an exponential
  const double middle = rng.uniform(1, 10), width = rng.uniform(0.7, 3);     // of a sigmoid
  for (std::size_t i = 1; i <= kEpochs; ++i) {
    const auto x = static_cast<double>(i);
    left.push_back(form == 0   ? std::pow(x, -rate)
                   : form == 1 ? std::exp(-(x - 1) / time)
                               : 1 / (1 + std::exp((x - middle) / width)));
  }
  return left;
}

}  // namespace

Curves generate(bool maximize, Rng rng) {
  Curves curves{maximize, {}};
  const double noise = std::exp(rng.uniform(std::log(0.001), std::log(0.02)));
  const double floor = rng.index(2) == 0 ? 0.0 : rng.uniform(0.1, 0.8);  // of losses
  const double offset = rng.index(3) == 0 ? -rng.uniform(2, 6) : 0.0;    // of losses
  const double chance = maximize ? rng.uniform(0.05, 0.5) : 2.3;         // knowing nothing
  for (std::size_t trial = 0; trial < kTrials; ++trial) {
    // Good configurations are rarer than middling ones.
    const double quality = std::sqrt(rng.uniform());
    const double end = maximize ? 0.97 - (0.97 - chance) * std::pow(quality, 3)
                                : floor + (chance - floor) * std::pow(quality, 3);
    std::vector<double> values = remainders(rng);
    for (double& value : values) value = end + (chance - end) * value;
    const std::size_t fate = rng.index(20);
    if (fate == 0) std::ranges::fill(values, chance);  // learns nothing
    if (fate == 1) {                                   // breaks down
      const std::size_t from = 2 + rng.index(kEpochs - 2);
      for (std::size_t i = from; i < kEpochs; ++i) {
        values[i] = maximize ? chance : chance * (1.5 + static_cast<double>(i - from));
      }
    }
    for (double& value : values) {
      value += noise * (maximize ? 1 : chance) * rng.normal();
      if (maximize) value = std::clamp(value, 0.0, 1.0);
      if (!maximize) value += offset;
    }
    curves.values.push_back(std::move(values));
  }
  return curves;
}

}  // namespace attune
