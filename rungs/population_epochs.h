#pragma once
// Population based training in epochs, as in NNI: all members train for one epoch, and then each of
// the worst becomes a copy of one of the best.
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace attune {

// What a member does in the next epoch: it goes on from its own state, copies that of a donor, or
// (begins_anew) begins with nothing, because nobody can be copied.
struct EpochStart {
  std::size_t member = 0;
  std::optional<std::size_t> donor = {};
  bool begins_anew = false;
};

// The members of the next epoch in the order in which they start: the worst first. `ended`: the
// members in the order in which they ended; of equal losses that of the first one is the best.
// `losses`: of each member; nothing: it failed. `fraction`: of the members that copy, in [0, 1],
// rounded up; a failed member always copies, and is never a donor. `draw(n)`: an index below n of a
// donor among the n best.
std::vector<EpochStart> next_epoch(std::span<const std::size_t> ended,
                                   std::span<const std::optional<double>> losses, double fraction,
                                   const std::function<std::size_t(std::size_t)>& draw);

}  // namespace attune
