// The leaves of a forest, as boxes.
#include <algorithm>

#include "base/check.h"
#include "math/trees/forest.h"

namespace attune {
namespace {

struct Step {
  std::size_t node = 0;
  bool right = false;
};

}  // namespace

// Narrows the bound of the dimension of `node` to one side of it.
void Forest::narrow(const Node& node, bool right, Bound& bound) const {
  const std::size_t n = categories_[node.dimension];
  if (n == 0) {
    if (right) {
      bound.low = std::max(bound.low, node.value);
    } else {
      bound.high = std::min(bound.high, node.value);
    }
    return;
  }
  if (bound.set.empty()) bound.set.assign((n + 31) / 32, ~std::uint32_t{0});
  for (std::size_t w = 0; w < bound.set.size(); ++w) {
    const std::uint32_t left = bits_[node.left_set + w];
    bound.set[w] &= right ? ~left : left;
  }
}

void Forest::visit_leaves(
    std::size_t tree, const std::function<void(double mean, std::span<const Bound>)>& visit) const {
  ATTUNE_CHECK(tree < trees());
  std::vector<Step> path;                            // the splits above the present node
  std::vector<std::size_t> places(dimensions(), 0);  // of a bound, plus 1
  std::vector<Bound> bounds;
  for (std::size_t index = roots_[tree];; ++index) {
    if (nodes_[index].right != 0) {
      path.push_back({index});
      continue;
    }
    for (const auto& [above, right] : path) {
      std::size_t& place = places[nodes_[above].dimension];
      if (place == 0) {
        bounds.push_back({.dimension = nodes_[above].dimension});
        place = bounds.size();
      }
      narrow(nodes_[above], right, bounds[place - 1]);
    }
    visit(nodes_[index].value, bounds);
    for (const Bound& bound : bounds) places[bound.dimension] = 0;
    bounds.clear();
    // The next node is the right child of the last split whose left side is done.
    while (!path.empty() && path.back().right) path.pop_back();
    if (path.empty()) return;
    path.back().right = true;
  }
}

}  // namespace attune
