#include "math/cma_es/cma_es_history.h"

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"

namespace attune {
namespace {

constexpr double kTolerance = 1e-16;

double median(std::span<const double> numbers) {
  std::vector<double> sorted(numbers.begin(), numbers.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

double spread(std::span<const double> numbers) {
  const auto [low, high] = std::ranges::minmax(numbers);
  return high / 2 - low / 2;
}

bool improves(std::span<const double> numbers) {
  const std::size_t third = numbers.size() / 3;
  return median(numbers.last(third)) < median(numbers.first(third));
}

}  // namespace

CmaHistory::CmaHistory(std::size_t dimensions, std::size_t population) {
  const double ratio = 30 * static_cast<double>(dimensions) / static_cast<double>(population);
  const auto extra = static_cast<std::size_t>(std::ceil(ratio));
  short_ = std::min(10 + extra, kLongest);
  long_ = std::min(120 + extra, kLongest);
}

void CmaHistory::add(std::span<const double> losses) {
  if (losses.empty()) return;
  last_spread_ = spread(losses);
  if (bests_.empty()) first_spread_ = last_spread_;
  bests_.push_back(losses.front());
  medians_.push_back(losses[losses.size() / 2]);
  // The paper's time includes a fifth of all generations, and would grow for ever. Here its length
  // is bounded: when it is full, the oldest quarter is dropped.
  if (bests_.size() < 2 * long_) return;
  bests_.erase(bests_.begin(), bests_.begin() + static_cast<std::ptrdiff_t>(long_ / 2));
  medians_.erase(medians_.begin(), medians_.begin() + static_cast<std::ptrdiff_t>(long_ / 2));
}

bool CmaHistory::is_stalled() const {
  if (bests_.size() < short_) return false;
  const double least = kTolerance * first_spread_;
  const auto recent = std::span(bests_).last(short_);
  if (last_spread_ <= least && spread(recent) <= least) return true;
  return bests_.size() >= long_ && !improves(bests_) && !improves(medians_);
}

json CmaHistory::save() const {
  return {{"first_spread", first_spread_},
          {"last_spread", last_spread_},
          {"bests", save_numbers(bests_)},
          {"medians", save_numbers(medians_)}};
}

Result<void> CmaHistory::load(const json& state) {
  const double first = TRY(number_at(state, "first_spread"));
  const double last = TRY(number_at(state, "last_spread"));
  auto bests = TRY(numbers_at(state, "bests"));
  auto medians = TRY(numbers_at(state, "medians"));
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!(first >= 0) || !(last >= 0) || !finite(first) || !finite(last) ||
      bests.size() != medians.size() || bests.size() >= 2 * long_ ||
      !std::ranges::all_of(bests, finite) || !std::ranges::all_of(medians, finite)) {
    return fail("saved state: cma: impossible losses");
  }
  first_spread_ = first;
  last_spread_ = last;
  bests_ = std::move(bests);
  medians_ = std::move(medians);
  return {};
}

}  // namespace attune
