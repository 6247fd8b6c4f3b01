#include "space/branch.h"

#include "space/sample.h"

namespace attune {

std::optional<std::size_t> root_choice(const Space& space) {
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const auto* choice = std::get_if<Choice>(&space.params[i].domain);
    if (choice && choice->nested && choice->candidates.size() > 1 && !space.params[i].condition) {
      return i;
    }
  }
  return {};
}

void enter(const Space& space, const Branch& branch, Point& point, Rng& rng) {
  point.values[branch.choice] = static_cast<double>(branch.option);
  for (std::size_t i = branch.choice + 1; i < point.values.size(); ++i) {
    if (!is_descendant(space.params[i], branch.choice)) break;
    if (!is_active(space, point, i)) {
      point.values[i] = Point::kInactive;
    } else if (!point.active(i)) {
      point.values[i] = sample(space.params[i].domain, rng);
    }
  }
}

}  // namespace attune
