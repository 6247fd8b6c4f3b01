#include "rungs/population_epochs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune {

std::vector<EpochStart> next_epoch(std::span<const std::size_t> ended,
                                   std::span<const std::optional<double>> losses, double fraction,
                                   const std::function<std::size_t(std::size_t)>& draw) {
  std::vector<std::size_t> sorted(ended.begin(), ended.end());  // the best first
  const auto loss = [&](std::size_t member) {
    return losses[member].value_or(std::numeric_limits<double>::infinity());
  };
  std::ranges::stable_sort(sorted, {}, loss);
  const std::size_t size = sorted.size();
  const auto failed = static_cast<std::size_t>(
      std::ranges::count_if(sorted, [&](std::size_t member) { return !losses[member]; }));
  const auto cutoff =
      std::min(size, static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(size))));
  const std::size_t copies = std::max(cutoff, failed);
  // With a fraction of 0 a failed member copies the best.
  const std::size_t donors = std::min(std::max<std::size_t>(cutoff, 1), size - failed);
  std::vector<EpochStart> starts;
  for (std::size_t i = 0; i < size; ++i) {
    EpochStart start{.member = sorted[i]};
    if (i >= size - copies) {
      start.begins_anew = donors == 0;
      if (donors > 0) start.donor = sorted[draw(donors)];
    }
    starts.push_back(start);
  }
  std::ranges::reverse(starts);
  return starts;
}

}  // namespace attune
