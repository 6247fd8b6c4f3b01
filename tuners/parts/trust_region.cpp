#include "tuners/parts/trust_region.h"

#include <algorithm>

#include "base/saved_numbers.h"

namespace attune {
namespace {

constexpr double kMostCounted = 1e9;  // in a saved state

}  // namespace

TrustRegion::TrustRegion(const TrustRegionSettings& settings, std::size_t failure_tolerance)
    : success_tolerance_(settings.success_tolerance),
      failure_tolerance_(failure_tolerance),
      length_(settings.initial_length) {}

void TrustRegion::count(bool improved, std::size_t running) {
  // The first result of a round: it has as many results as trials are running now.
  if (outstanding_ == 0) {
    round_ = outstanding_ = running;
    improved_ = false;
  }
  improved_ = improved_ || improved;
  if (--outstanding_ == 0) end_round();
}

void TrustRegion::end_round() {
  if (improved_) {
    failures_ = 0;
    if (++successes_ < success_tolerance_) return;
    length_ = std::min(2 * length_, kMostLength);
  } else {
    successes_ = 0;
    // Counted in evaluations, so that the tolerance does not depend on how many trials run at a
    // time.
    failures_ += round_;
    if (failures_ < failure_tolerance_) return;
    length_ /= 2;
  }
  successes_ = failures_ = 0;
}

json TrustRegion::save() const {
  return save_numbers(std::vector<double>{
      length_, static_cast<double>(successes_), static_cast<double>(failures_),
      static_cast<double>(round_), static_cast<double>(outstanding_), improved_ ? 1.0 : 0.0});
}

Result<void> TrustRegion::load(const json& state) {
  const std::vector<double> saved = TRY(numbers(state));
  const bool possible = saved.size() == 6 && saved[0] >= kLeastLength && saved[0] <= kMostLength &&
                        is_index(saved[1], static_cast<double>(success_tolerance_)) &&
                        is_index(saved[2], static_cast<double>(failure_tolerance_)) &&
                        is_index(saved[3], kMostCounted) && saved[4] <= saved[3] &&
                        is_index(saved[4], kMostCounted) && is_index(saved[5], 2);
  if (!possible) return fail("saved state: an impossible trust region");
  const auto whole = [&](std::size_t i) { return static_cast<std::size_t>(saved[i]); };
  length_ = saved[0];
  successes_ = whole(1);
  failures_ = whole(2);
  round_ = whole(3);
  outstanding_ = whole(4);
  improved_ = saved[5] == 1;
  return {};
}

}  // namespace attune
