#include "tuners/tpe_history.h"

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "space/saved_point.h"

namespace attune {

void TpeHistory::add(const Point& point, double loss) {
  const auto trial = static_cast<std::uint32_t>(losses_.size());
  const std::size_t width = groups_.variables().size();
  losses_.push_back(loss);
  values_.insert(values_.end(), point.values.begin(), point.values.end());
  coordinates_.resize(coordinates_.size() + width);
  const std::span row = std::span(coordinates_).last(width);
  groups_.encode(point, row);
  for (std::size_t g = 0; g < orders_.size(); ++g) {
    if (std::isnan(row[groups_.groups()[g].front()].x)) continue;
    std::vector<std::uint32_t>& order = orders_[g];
    const auto loss_of = [this](std::uint32_t other) { return losses_[other]; };
    order.insert(std::ranges::upper_bound(order, loss, {}, loss_of), trial);
  }
}

json TpeHistory::save() const {
  return {{"losses", save_numbers(losses_)}, {"points", save_numbers(values_)}};
}

Result<void> TpeHistory::load(const Space& space, const json& state) {
  const auto losses = TRY(numbers_at(state, "losses"));
  const auto points = TRY(load_points(space, TRY(value_at(state, "points")), losses.size()));
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!std::isfinite(losses[i])) return fail("saved state: the loss of a trial must be finite");
    add(points[i], losses[i]);
  }
  return {};
}

}  // namespace attune
