#pragma once
// The signed-rank test of Wilcoxon ("Individual Comparisons by Ranking Methods", Biometrics
// Bulletin 1, 1945): whether paired differences tend to be positive.
#include <span>

namespace attune {

// The p-value against the alternative that the differences are greater than zero: small if they
// tend to be positive. All differences are finite, and there is at least one. Equal sizes share
// their mean rank; the ranks of zeros count half as positive (scipy: zero_method "zsplit").
//
// As scipy.stats.wilcoxon of 2026 with method "auto": exact up to 50 differences, if there are
// neither ties nor zeros; with them exact up to 13. Otherwise the normal approximation, corrected
// for ties and not for continuity.
double signed_rank_test(std::span<const double> differences);

}  // namespace attune
