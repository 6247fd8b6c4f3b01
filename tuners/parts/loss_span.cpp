#include "tuners/parts/loss_span.h"

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"

namespace attune {

void LossSpan::add(double loss) {
  if (first_.size() < kFirst) first_.push_back(loss);
  lowest_ = std::min(lowest_, loss);
}

bool LossSpan::has_decades() const {
  if (first_.size() < kFirst || lowest_ <= 0) return false;
  std::vector<double> sorted = first_;
  std::ranges::sort(sorted);
  return lowest_ < kShare * sorted[kFirst / 2];
}

// The first losses, and the lowest one behind them.
json LossSpan::save() const {
  std::vector<double> all = first_;
  if (!all.empty()) all.push_back(lowest_);
  return save_numbers(all);
}

Result<void> LossSpan::load(const json& object, std::string_view key) {
  first_ = TRY(numbers_at(object, key));
  if (first_.empty()) return {};
  const auto is_finite = [](double loss) { return std::isfinite(loss); };
  const bool possible = first_.size() >= 2 && first_.size() <= kFirst + 1 &&
                        std::ranges::all_of(first_, is_finite) &&
                        std::ranges::min(first_) == first_.back();
  if (!possible) return fail("saved state: impossible losses");
  lowest_ = first_.back();
  first_.pop_back();
  return {};
}

}  // namespace attune
