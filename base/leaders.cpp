#include "base/leaders.h"

#include <algorithm>
#include <utility>

namespace attune {

Leaders::Offered Leaders::offer(Id id, Standing standing) {
  const bool trade_off = standing.violation == 0 && standing.values.size() > 1;
  if (!trade_off || !keep_limits()) {
    if (!empty() && !(standing < best())) return {};
    return replace_all(id, std::move(standing));
  }
  const auto beats = [](const Standing& a, const Standing& b) {
    return dominates(a.values, b.values);
  };
  // In the order of Standing, whatever dominates the new result stands before it, and whatever it
  // dominates stands behind it. With two objectives the second objective decreases from leader to
  // leader. So only the leader just before the new result can dominate it, and those that it
  // dominates are its next neighbours.
  const bool two = standing.values.size() == 2;
  auto behind = leaders_.upper_bound(standing);
  for (auto before = behind; before != leaders_.begin();) {
    if (beats((--before)->first, standing)) return {};
    if (two) break;
  }
  Offered offered = {.leads = true};
  while (behind != leaders_.end()) {
    if (beats(standing, behind->first)) {
      offered.overtaken.push_back(behind->second);
      behind = leaders_.erase(behind);
    } else if (two) {
      break;
    } else {
      ++behind;
    }
  }
  leaders_.emplace(std::move(standing), id);
  return offered;
}

Leaders::Offered Leaders::replace_all(Id id, Standing standing) {
  Offered offered = {.leads = true, .overtaken = ids()};
  leaders_.clear();
  leaders_.emplace(std::move(standing), id);
  return offered;
}

std::size_t Leaders::trade_offs() const {
  return keep_limits() && best().values.size() > 1 ? leaders_.size() : 0;
}

std::vector<Leaders::Id> Leaders::ids() const {
  std::vector<Id> all;
  all.reserve(leaders_.size());
  for (const auto& [standing, id] : leaders_) all.push_back(id);
  return all;
}

}  // namespace attune
