#include "math/forest.h"

#include "base/check.h"
#include "math/tree_grower.h"

namespace attune {

Forest::Forest(std::vector<std::size_t> categories, const ForestSettings& settings)
    : categories_(std::move(categories)), settings_(settings) {}

void Forest::fit(std::span<const double> rows, std::span<const double> targets, Rng& rng) {
  ATTUNE_CHECK(!targets.empty() && rows.size() == targets.size() * dimensions());
  nodes_.clear();
  roots_.clear();
  bits_.clear();
  TreeGrower grower(*this, rows, targets, rng);
  for (std::size_t i = 0; i < settings_.trees; ++i) {
    roots_.push_back(nodes_.size());
    grower.grow();
  }
}

bool Forest::goes_left(const Node& node, double x) const {
  if (x != x) return node.inactive_left;
  if (categories_[node.dimension] == 0) return x <= node.value;
  const auto category = static_cast<std::uint32_t>(x);
  return (bits_[node.left_set + category / 32] >> (category % 32) & 1) != 0;
}

const Forest::Node& Forest::leaf(std::size_t root, const double* row) const {
  const Node* node = nodes_.data() + root;
  while (node->right != 0) {
    node = goes_left(*node, row[node->dimension]) ? node + 1 : nodes_.data() + node->right;
  }
  return *node;
}

Forest::Prediction Forest::predict(std::span<const double> row) const {
  return predict_many(row, 1).front();
}

// Tree by tree: one of them fits into the nearest cache.
std::vector<Forest::Prediction> Forest::predict_many(std::span<const double> rows,
                                                     std::size_t count) const {
  ATTUNE_CHECK(!empty() && rows.size() == count * dimensions());
  std::vector<Prediction> all(count);
  double trees = 0;
  for (const std::size_t root : roots_) {
    const double share = 1 / ++trees;
    for (std::size_t i = 0; i < count; ++i) {
      const Node& at = leaf(root, rows.data() + i * dimensions());
      Prediction& sum = all[i];
      const double difference = at.value - sum.mean;
      sum.mean += difference * share;
      sum.variance += at.variance + difference * (at.value - sum.mean);
    }
  }
  for (Prediction& sum : all) sum.variance /= trees;
  return all;
}

}  // namespace attune
