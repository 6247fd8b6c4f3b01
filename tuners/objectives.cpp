#include "tuners/objectives.h"

#include <algorithm>
#include <cmath>

namespace attune {

std::optional<std::vector<double>> Objectives::operator()(const Outcome& outcome) const {
  if (!outcome.loss || !std::isfinite(*outcome.loss)) return std::nullopt;
  std::vector<double> values = {*outcome.loss};
  values.reserve(size());
  for (std::size_t i = 1; i < all_.size(); ++i) {
    const auto found =
        std::ranges::find(outcome.metrics, all_[i].metric, &Metrics::value_type::first);
    if (found == outcome.metrics.end() || !std::isfinite(found->second)) return std::nullopt;
    values.push_back(all_[i].maximize ? -found->second : found->second);
  }
  return values;
}

}  // namespace attune
