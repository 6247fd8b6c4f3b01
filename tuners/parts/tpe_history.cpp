#include "tuners/parts/tpe_history.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/saved_numbers.h"
#include "space/saved_point.h"

namespace attune {
namespace {

constexpr double kUnranked = std::numeric_limits<double>::max();  // sorts after all ranked results
constexpr double kFailed = std::numeric_limits<double>::infinity();  // sorts after all others

}  // namespace

void TpeHistory::add(const Point& point, std::span<const double> values) {
  insert(point, one_number() ? values.front() : kUnranked, values);
}

void TpeHistory::add_failed(const Point& point) {
  const std::vector<double> none(objectives_.size() + objectives_.limits(), kFailed);
  insert(point, kFailed, none);
}

void TpeHistory::insert(const Point& point, double loss, std::span<const double> values) {
  const auto trial = static_cast<std::uint32_t>(losses_.size());
  const std::size_t width = groups_.variables().size();
  losses_.push_back(loss);
  if (!one_number()) results_.insert(results_.end(), values.begin(), values.end());
  values_.insert(values_.end(), point.values.begin(), point.values.end());
  coordinates_.resize(coordinates_.size() + width);
  const std::span row = std::span(coordinates_).last(width);
  groups_.encode(point, row);
  for (std::size_t g = 0; g < orders_.size(); ++g) {
    const auto has_none = [&](std::size_t variable) { return std::isnan(row[variable].x); };
    // A group without any value is inactive in this trial.
    if (std::ranges::all_of(groups_.groups()[g], has_none)) continue;
    std::vector<std::uint32_t>& order = orders_[g];
    const auto loss_of = [this](std::uint32_t other) { return losses_[other]; };
    order.insert(std::ranges::upper_bound(order, loss, {}, loss_of), trial);
    if (loss != kFailed) ++usable_[g];
  }
}

void TpeHistory::rank() {
  if (one_number() || size() < ranked_ + std::max<std::size_t>(1, ranked_ / 20)) return;
  rank_now();
}

void TpeHistory::rank_now() {
  const std::size_t width = objectives_.size() + objectives_.limits();
  std::vector<double> usable;
  std::vector<std::size_t> trials;  // the trial of each result in `usable`
  for (std::size_t i = 0; i < size(); ++i) {
    if (losses_[i] == kFailed) continue;
    const auto result = std::span(results_).subspan(i * width, width);
    usable.insert(usable.end(), result.begin(), result.end());
    trials.push_back(i);
  }
  double next = 0;
  for (const std::size_t i : ranking(usable, objectives_.size(), objectives_.limits())) {
    losses_[trials[i]] = next++;
  }
  for (auto& order : orders_) {
    std::ranges::stable_sort(order, {}, [this](std::uint32_t trial) { return losses_[trial]; });
  }
  ranked_ = size();
}

json TpeHistory::save() const {
  return {{"losses", save_numbers(one_number() ? losses_ : results_)},
          {"ranked", ranked_},
          {"points", save_numbers(values_)}};
}

Result<void> TpeHistory::load(const Space& space, const json& state) {
  const auto losses = TRY(numbers_at(state, "losses"));
  const std::size_t width = objectives_.size() + objectives_.limits();
  const auto is_possible = [](double loss) { return std::isfinite(loss) || loss == kFailed; };
  if (losses.size() % width > 0 || !std::ranges::all_of(losses, is_possible)) {
    return fail("saved state: impossible results");
  }
  const std::size_t n = losses.size() / width;
  const auto points = TRY(load_points(space, TRY(value_at(state, "points")), n, Gaps::allowed));
  const auto ranked = TRY(integer_at(state, "ranked"));
  if (ranked < 0 || ranked > static_cast<std::int64_t>(n)) {
    return fail("saved state: impossible results");
  }
  for (std::size_t i = 0; i < n; ++i) {
    const auto result = std::span(losses).subspan(i * width, width);
    if (std::ranges::all_of(result, [](double number) { return std::isfinite(number); })) {
      add(points[i], result);
    } else {
      add_failed(points[i]);
    }
    if (!one_number() && std::cmp_equal(i + 1, ranked)) rank_now();
  }
  return {};
}

}  // namespace attune
