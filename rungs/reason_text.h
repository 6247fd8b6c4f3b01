#pragma once
// What the sentences that explain decisions are made of. All values are in the user's sign.
//
//   rung 9: 0.713 ranks 17 of 20; the best 6 go on, cutoff 0.709
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/trial.h"

namespace attune {

// An infinite result counts as this, the worst of all losses. It is finite, so that a cutoff
// between two losses is a number.
inline constexpr double kWorstLoss = std::numeric_limits<double>::max();

// A result in words: the number, or "a result that is not finite" (also for kWorstLoss of either
// sign).
std::string result_text(double value);
// A loss as the user sees the metric.
std::string result_text(const Objective& objective, double loss);
// The same for several objectives: "(0.4, 9)". `losses`: of those without a limit, in their order.
std::string results_text(std::span<const Objective> objectives, std::span<const double> losses);
// "a result over its limits by 7". `violation`: see violation() in base/standing.h.
std::string over_limits_text(double violation);

// "rung 9: 0.713 ranks 17 of 20". `what`: what the rule calls a rung. The best has rank 1.
std::string rank_text(std::string_view what, double level, std::string_view result,
                      std::size_t rank, std::size_t of);
// "; the best 6 go on, cutoff 0.709". `cutoff`: the result of the last of them.
std::string kept_text(std::size_t kept, std::string_view cutoff);
// " so far and waits for 4 more"
std::string waits_text(std::size_t missing);

// "epoch 9 of 9: ends with 0.713". The trial has used its budget.
std::string used_up_text(std::string_view attribute, double resource, double budget,
                         std::string_view result);
// "rung 9: \"loss\" is not finite"
std::string not_finite_text(std::string_view what, double level, std::string_view metric);

}  // namespace attune
