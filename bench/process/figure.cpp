#include "bench/process/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace attune::bench {

double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t middle = samples.size() / 2;
  if (samples.size() % 2 == 1) return samples[middle];
  return std::midpoint(samples.at(middle - 1), samples[middle]);
}

json to_json(const Figure& figure) {
  const auto [low, high] = std::ranges::minmax(figure.samples);
  return {{"name", figure.name}, {"unit", figure.unit}, {"median", median(figure.samples)},
          {"low", low},          {"high", high},        {"samples", figure.samples.size()}};
}

std::string to_text(const Figure& figure) {
  const auto [low, high] = std::ranges::minmax(figure.samples);
  return fmt::format("{:<48} {:>12.4g} {:<4} ({:.4g} to {:.4g}, n = {})", figure.name,
                     median(figure.samples), figure.unit, low, high, figure.samples.size());
}

}  // namespace attune::bench
