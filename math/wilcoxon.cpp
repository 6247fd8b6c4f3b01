#include "math/wilcoxon.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "math/normal_tail.h"

namespace attune {
namespace wilcoxon {
namespace {

constexpr std::size_t kMostExact = 50;
constexpr std::size_t kMostExactWithTies = 13;

// All ranks are doubled, so that mean ranks and halves of ranks are whole.
struct Ranks {
  std::vector<std::size_t> nonzero;  // one for each difference that is not zero
  std::size_t positive = 0;          // the sum of those of positive differences
  std::size_t zeros = 0;             // the sum of those of zeros
  double ties = 0;                   // the sum of t^3 - t over the groups of t equal sizes
};

Ranks ranks_of(std::span<const double> differences) {
  std::vector<double> sorted(differences.begin(), differences.end());
  std::ranges::sort(sorted, {}, [](double x) { return std::abs(x); });
  Ranks ranks;
  for (std::size_t from = 0, to = 0; from < sorted.size(); from = to) {
    while (to < sorted.size() && std::abs(sorted[to]) == std::abs(sorted[from])) ++to;
    const auto equal = static_cast<double>(to - from);
    ranks.ties += equal * equal * equal - equal;
    const std::size_t rank = from + 1 + to;  // twice the mean of from + 1, ..., to
    for (std::size_t i = from; i < to; ++i) {
      if (sorted[i] == 0) {
        ranks.zeros += rank;
      } else {
        ranks.nonzero.push_back(rank);
        if (sorted[i] > 0) ranks.positive += rank;
      }
    }
  }
  return ranks;
}

// In how many of the 2^n choices of signs the positive ranks sum to `most` or less. Up to 2^53 a
// double counts exactly.
double choices_up_to(std::size_t most, std::span<const std::size_t> ranks) {
  std::vector<double> choices(most + 1, 0.0);  // [s]: the sum is s
  choices[0] = 1;
  for (const std::size_t rank : ranks) {
    for (std::size_t sum = most; sum >= rank; --sum) choices[sum] += choices[sum - rank];
  }
  return std::accumulate(choices.begin(), choices.end(), 0.0);
}

// The share of all choices of signs in which the positive ranks sum to `positive` or more.
double exact(std::vector<std::size_t> ranks, std::size_t positive, bool all_even) {
  if (all_even) {
    for (std::size_t& rank : ranks) rank /= 2;
    positive /= 2;
  }
  const double all = std::exp2(static_cast<double>(ranks.size()));
  const std::size_t negative =
      std::accumulate(ranks.begin(), ranks.end(), std::size_t{0}) - positive;
  // The negative ranks are distributed as the positive ones are. The smaller sum costs less.
  if (negative < positive) return choices_up_to(negative, ranks) / all;
  if (positive == 0) return 1;
  return (all - choices_up_to(positive - 1, ranks)) / all;
}

double approximate(const Ranks& ranks, double n) {
  const double positive =
      (static_cast<double>(ranks.positive) + static_cast<double>(ranks.zeros) / 2) / 2;
  const double mean = n * (n + 1) / 4;
  const double variance = (n * (n + 1) * (2 * n + 1) - ranks.ties / 2) / 24;
  return upper_tail((positive - mean) / std::sqrt(variance));
}

}  // namespace
}  // namespace wilcoxon

double signed_rank_test(std::span<const double> differences) {
  using namespace wilcoxon;
  const std::size_t n = differences.size();
  Ranks ranks = ranks_of(differences);
  const bool plain = ranks.ties == 0 && ranks.zeros == 0;
  if (n <= kMostExactWithTies || (n <= kMostExact && plain)) {
    return exact(std::move(ranks.nonzero), ranks.positive, plain);
  }
  return approximate(ranks, static_cast<double>(n));
}

}  // namespace attune
