#pragma once
// How large the rungs of synchronous successive halving are, and who goes on. The formulas are
// those of Syne Tune, rounding included.
//
// Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar, "Hyperband: A Novel Bandit-Based Approach to
// Hyperparameter Optimization" (JMLR 2018), algorithm 1.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace attune {

struct RungSize {
  std::size_t slots = 0;   // so many trials fit
  std::int64_t level = 0;  // the resource that they get
  bool operator==(const RungSize&) const = default;
};
using RungSizes = std::vector<RungSize>;  // of one bracket, the lowest level first

// The brackets of Hyperband, at most `most` of them. Bracket b starts at min * factor^b, and its
// top rung has the level max. Each costs about as much resource as the others.
// 1 <= min <= max, factor >= 2.
std::vector<RungSizes> geometric_brackets(std::int64_t min, std::int64_t max, double factor,
                                          std::optional<std::size_t> most);

// The brackets of DEHB: bracket b is the first one without its b lowest rungs. So all rungs of a
// level have the same size, and each slot has a counterpart in the other brackets.
std::vector<RungSizes> nested_brackets(const RungSizes& first, std::size_t most);

// The indices of the `count` lowest losses, the lowest first; of equal ones the earlier first. NaN,
// a failed trial, comes after all others.
std::vector<std::size_t> best_slots(std::span<const double> losses, std::size_t count);

}  // namespace attune
