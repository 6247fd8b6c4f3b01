#include "math/trees/forest.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "math/trees/tree_grower.h"

namespace attune {
namespace {

constexpr double kMostMean = 1e100;  // the limit of targets
constexpr std::size_t kWord = 32;    // categories in one element of bits_

std::size_t words(std::size_t categories) { return (categories + kWord - 1) / kWord; }

}  // namespace

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
  return (bits_[node.left_set + category / kWord] >> (category % kWord) & 1) != 0;
}

const Forest::Node& Forest::leaf(std::size_t root, const double* row) const {
  const Node* node = nodes_.data() + root;
  while (node->right != 0) {
    node = goes_left(*node, row[node->dimension]) ? node + 1 : nodes_.data() + node->right;
  }
  return *node;
}

Forest::Prediction Forest::predict(std::span<const double> row) const {
  return predict_many(row).front();
}

// Tree by tree, because one tree fits into the nearest cache.
std::vector<Forest::Prediction> Forest::predict_many(std::span<const double> rows) const {
  const std::size_t count = dimensions() > 0 ? rows.size() / dimensions() : 1;
  ATTUNE_CHECK(!empty() && rows.size() == count * dimensions());
  std::vector<Prediction> all(count);
  double trees = 0;
  for (const std::size_t root : roots_) {
    const double share = 1 / ++trees;
    for (std::size_t i = 0; i < count; ++i) {
      const Node& at = leaf(root, rows.data() + i * dimensions());
      Prediction& sum = all[i];
      // Mean and variance over the trees in one pass (Welford).
      const double difference = at.value - sum.mean;
      sum.mean += difference * share;
      sum.variance += at.variance + difference * (at.value - sum.mean);
    }
  }
  for (Prediction& sum : all) sum.variance /= trees;
  return all;
}

// Writes node after node. The positions of children and sets follow from the order, so a damaged
// state cannot contain wrong ones. A leaf: 0, mean, variance. A split: 1 + 2 dimension +
// inactive_left, then the position of the cut, or the words of the set.
json Forest::save() const {
  std::vector<double> stream;
  for (const Node& node : nodes_) {
    if (node.right == 0) {
      stream.insert(stream.end(), {0, node.value, node.variance});
      continue;
    }
    stream.push_back(1 + 2.0 * node.dimension + (node.inactive_left ? 1 : 0));
    const std::size_t n = categories_[node.dimension];
    if (n == 0) stream.push_back(node.value);
    for (std::size_t w = 0; w < words(n); ++w) stream.push_back(bits_[node.left_set + w]);
  }
  return save_numbers(stream);
}

class Forest::Reader {
 public:
  Reader(Forest& forest, std::span<const double> stream) : forest_(forest), stream_(stream) {}

  bool at_end() const { return stream_.empty(); }

  bool read_tree() {
    forest_.roots_.push_back(forest_.nodes_.size());
    std::vector<std::size_t> open;  // splits without a right child
    do {
      const std::size_t index = forest_.nodes_.size();
      const auto is_leaf = read_node();
      if (!is_leaf) return false;
      if (!*is_leaf) {
        open.push_back(index);
      } else if (open.empty()) {
        return true;
      } else {
        forest_.nodes_[open.back()].right = static_cast<std::uint32_t>(index + 1);
        open.pop_back();
      }
    } while (true);
  }

 private:
  // The next number; NaN at the end of the stream.
  double next() {
    if (stream_.empty()) return std::nan("");
    const double x = stream_.front();
    stream_ = stream_.subspan(1);
    return x;
  }

  // Reads one node. Returns whether it is a leaf; nothing if it is impossible.
  std::optional<bool> read_node() {
    const double code = next();
    if (!is_index(code, 1 + 2 * static_cast<double>(forest_.dimensions()))) return std::nullopt;
    Node node;
    if (code == 0) {
      node.value = next();
      node.variance = next();
      forest_.nodes_.push_back(node);
      if (!(std::abs(node.value) <= kMostMean) || !(node.variance >= 0) ||
          !std::isfinite(node.variance)) {
        return std::nullopt;
      }
      return true;
    }
    const auto split = static_cast<std::uint32_t>(code - 1);
    node.dimension = split / 2;
    node.inactive_left = split % 2 == 1;
    node.left_set = static_cast<std::uint32_t>(forest_.bits_.size());
    const std::size_t n = forest_.categories_[node.dimension];
    if (n == 0) {
      node.left_set = 0;
      node.value = next();
      if (std::isnan(node.value)) return std::nullopt;
    }
    for (std::size_t w = 0; w < words(n); ++w) {
      const double word = next();
      if (!is_index(word, 0x1p32)) return std::nullopt;
      forest_.bits_.push_back(static_cast<std::uint32_t>(word));
    }
    forest_.nodes_.push_back(node);
    return false;
  }

  Forest& forest_;
  std::span<const double> stream_;
};

Result<void> Forest::load(const json& state) {
  const auto stream = TRY(numbers(state));
  const auto damaged = [] { return fail("saved state: not the trees of such a forest"); };
  if (stream.size() >= std::size_t{1} << 32) return damaged();  // indices have 32 bits
  Forest loaded(categories_, settings_);
  Reader reader(loaded, stream);
  if (!reader.at_end()) {
    for (std::size_t i = 0; i < settings_.trees; ++i) {
      if (!reader.read_tree()) return damaged();
    }
    if (!reader.at_end()) return damaged();
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
