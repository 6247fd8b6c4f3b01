#pragma once
// Where the rungs of successive halving lie, which trial joins which bracket, and what a trial must
// reach at a rung. The formulas are those of Ray Tune and Syne Tune, rounding included, because a
// level that differs by one changes every later decision.
//
// Jamieson, Talwalkar, "Non-stochastic Best Arm Identification" (AISTATS 2016); Li et al., "A
// System for Massively Parallel Hyperparameter Tuning" (MLSys 2020), algorithms 1 and 2.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "math/sorted_numbers.h"

namespace attune {

// Ray Tune (AsyncHyperBandScheduler): the milestones of bracket `s`, the lowest first. There are
// int(log(max_t / grace) / log(factor) - s + 1) of them, grace * factor^(k + s); possibly none. In
// floating point: with grace 1, factor 10 and max_t 1000 the last milestone is lost, as it is in
// Ray. max_t >= grace > 0, factor > 1, s >= 0.
std::vector<double> ray_milestones(double max_t, double grace, double factor, int s);

// Ray Tune: the probabilities of the brackets, in proportion to exp(number of their milestones).
// `milestones` has one number for each bracket.
std::vector<double> ray_bracket_probabilities(std::span<const std::size_t> milestones);

// Syne Tune: the rung levels below max_t, ascending: round(grace * factor^k), half to even.
// With an `increment`: grace, grace + increment, ...
std::vector<std::int64_t> syne_levels(std::int64_t grace, double factor, std::int64_t max_t,
                                      std::optional<std::int64_t> increment = {});

// Syne Tune: how many brackets there are of the `wanted` ones, and the probability of each.
// Bracket s skips the s lowest of the levels; its probability is in proportion to K / ((K - s)
// r_s), where K = levels + 1 and r_s is its lowest level, max_t for the last bracket.
std::vector<double> syne_bracket_probabilities(std::span<const std::int64_t> levels,
                                               std::int64_t max_t, std::size_t wanted);

// Syne Tune: the loss at which the best `share` (in (0, 1)) of the losses at a rung end. Nothing
// for fewer than two losses. It interpolates between neighbours; the order of the operations
// decides exact ties, and so differs from that of a percentile of numpy. `maximise`: the losses are
// negated values of a metric that is maximised, where Syne Tune counts from the other end.
std::optional<double> syne_cutoff(const SortedNumbers& losses, double share, bool maximise);

}  // namespace attune
