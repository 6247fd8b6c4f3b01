#include "tuners/parts/decision_sites.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace attune {
namespace {

bool is_discrete(const Param& param) {
  return std::holds_alternative<Choice>(param.domain) ||
         std::holds_alternative<Subset>(param.domain);
}

}  // namespace

DecisionSites::DecisionSites(const Space& space) : space_(space) {
  for (const Param& param : space_.params) {
    first_.push_back(options_.size());
    if (const auto* choice = std::get_if<Choice>(&param.domain)) {
      options_.push_back(choice->candidates.size());
    } else {
      options_.insert(options_.end(), std::get<Subset>(param.domain).candidates.size(), 2);
    }
  }
}

const Param* DecisionSites::first_other(const Space& space) {
  const auto found = std::ranges::find_if_not(space.params, is_discrete);
  return found == space.params.end() ? nullptr : &*found;
}

template <class Choose>
Point DecisionSites::walk(Choose&& choose) const {
  Point point{std::vector<double>(space_.params.size(), Point::kInactive)};
  for (std::size_t i = 0; i < point.values.size(); ++i) {
    if (!is_active(space_, point, i)) continue;
    const auto* subset = std::get_if<Subset>(&space_.params[i].domain);
    if (!subset) {
      const auto index = [](double value) { return static_cast<std::size_t>(value); };
      const bool alone = options_[first_[i]] == 1;
      point.values[i] = alone ? 0 : static_cast<double>(choose(i, first_[i], 0.0, index));
      continue;
    }
    // The offset is the logarithm of the odds with which a uniformly drawn subset takes this
    // candidate: still needed, to not needed among those left. So an untrained policy draws every
    // subset equally often.
    std::uint64_t mask = 0;
    std::size_t needed = subset->chosen;
    for (std::size_t c = 0; c < subset->candidates.size(); ++c) {
      const std::size_t left = subset->candidates.size() - c;
      const auto bit = [c](double value) -> std::size_t {
        return static_cast<std::uint64_t>(value) >> c & 1;
      };
      bool taken = needed == left;
      if (needed > 0 && needed < left) {
        const double odds = static_cast<double>(needed) / static_cast<double>(left - needed);
        taken = choose(i, first_[i] + c, std::log(odds), bit) == 1;
      }
      if (!taken) continue;
      mask |= std::uint64_t{1} << c;
      --needed;
    }
    point.values[i] = static_cast<double>(mask);
  }
  return point;
}

Sequence DecisionSites::sequence(const Point& point) const {
  Sequence all;
  walk([&](std::size_t i, std::size_t site, double offset, auto&& option_of) {
    all.push_back({site, option_of(point.values[i]), offset});
    return all.back().option;
  });
  return all;
}

Point DecisionSites::sample(const SequencePolicy& policy, Rng& rng) const {
  Sequence before;
  return walk([&](std::size_t, std::size_t site, double offset, auto&&) {
    before.push_back({site, policy.sample(before, site, offset, rng), offset});
    return before.back().option;
  });
}

}  // namespace attune
