#pragma once
// How much a manager may send of earlier experiments (docs/protocol.md, "Earlier experiments").
#include <algorithm>
#include <cstddef>

namespace attune {

inline constexpr std::size_t kMostEarlier = 20;         // experiments
inline constexpr std::size_t kMostEarlierTrials = 200;  // of each

// How many trials of each experiment to send, if there are so many experiments, and configurations
// have so many parameters. Wide spaces get fewer: an object of k keys costs its reader k * k / 2
// steps, and JsonLimits (base/json.h) bounds their sum. A frame has a limit, too.
constexpr std::size_t most_earlier_trials(std::size_t experiments, std::size_t parameters) {
  constexpr double kWork = 5e7;
  const double all =
      kWork / (0.5 * static_cast<double>(parameters + 1) * static_cast<double>(parameters + 1));
  const double each = all / static_cast<double>(std::max<std::size_t>(experiments, 1));
  return std::clamp<std::size_t>(static_cast<std::size_t>(each), 1, kMostEarlierTrials);
}

}  // namespace attune
