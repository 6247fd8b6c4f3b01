#pragma once
// How much a manager may send of earlier experiments (docs/protocol.md, "Earlier experiments").
#include <cstddef>

namespace attune {

inline constexpr std::size_t kMostEarlier = 20;         // experiments
inline constexpr std::size_t kMostEarlierTrials = 200;  // of each

}  // namespace attune
