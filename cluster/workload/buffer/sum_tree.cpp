#include "cluster/workload/buffer/sum_tree.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace attune {

void SumTree::make_of_children(std::size_t node) {
  const Node &left = nodes_[2 * node], &right = nodes_[2 * node + 1];
  nodes_[node] = {left.sum + right.sum, std::min(left.least, right.least)};
}

void SumTree::grow(std::size_t leaf) {
  const std::size_t leaves = std::bit_ceil(leaf + 1);
  std::vector<Node> grown(2 * leaves);
  const std::size_t half = nodes_.size() / 2;
  std::ranges::copy(nodes_.begin() + half, nodes_.end(), grown.begin() + leaves);
  nodes_ = std::move(grown);
  for (std::size_t node = leaves - 1; node > 0; --node) make_of_children(node);
}

void SumTree::set(std::size_t leaf, double weight) {
  if (leaf >= nodes_.size() / 2) grow(leaf);
  std::size_t node = nodes_.size() / 2 + leaf;
  nodes_[node] = weight > 0 ? Node{weight, weight} : Node{};
  while (node > 1) {
    node /= 2;
    const Node before = nodes_[node];
    make_of_children(node);
    if (nodes_[node] == before) return;  // then nothing above it changes either
  }
}

double SumTree::weight(std::size_t leaf) const {
  const std::size_t half = nodes_.size() / 2;
  return leaf < half ? nodes_[half + leaf].sum : 0;
}

double SumTree::total() const { return nodes_.empty() ? 0 : nodes_[1].sum; }

double SumTree::least() const { return nodes_.empty() ? Node{}.least : nodes_[1].least; }

std::size_t SumTree::find(double mass) const {
  ATTUNE_CHECK(total() > 0);
  const std::size_t half = nodes_.size() / 2;
  std::size_t node = 1;
  while (node < half) {
    const double left = nodes_[2 * node].sum;
    const bool go_right = mass >= left && nodes_[2 * node + 1].sum > 0;
    if (go_right) mass -= left;
    node = 2 * node + (go_right ? 1 : 0);
  }
  return node - half;
}

}  // namespace attune
