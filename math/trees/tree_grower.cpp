#include "math/trees/tree_grower.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace attune {

TreeGrower::TreeGrower(Forest& forest, std::span<const double> rows,
                       std::span<const double> targets, Rng& rng)
    : forest_(forest),
      targets_(targets),
      rng_(rng),
      count_(targets.size()),
      columns_(rows.size()),
      orders_(forest.dimensions()),
      all_(count_),
      weights_(count_),
      lists_(forest.dimensions()),
      parts_(count_),
      dimensions_(forest.dimensions()),
      goes_left_(count_),
      others_(count_) {
  const std::size_t d = forest.dimensions();
  std::iota(all_.begin(), all_.end(), 0);
  std::iota(dimensions_.begin(), dimensions_.end(), 0);
  for (std::size_t k = 0; k < d; ++k) {
    double* column = columns_.data() + k * count_;
    for (std::size_t i = 0; i < count_; ++i) column[i] = rows[i * d + k];
    if (forest.categories_[k] > 0) continue;
    orders_[k] = all_;
    std::ranges::sort(orders_[k], [column](std::uint32_t a, std::uint32_t b) {
      const double x = column[a], y = column[b];
      const bool has_x = x == x, has_y = y == y;
      if (has_x != has_y) return has_x;
      return has_x && x != y ? x < y : a < b;
    });
  }
}

void TreeGrower::draw_sample() {
  // An observation that was drawn several times is kept once, with a weight.
  std::ranges::fill(weights_, forest_.settings_.bootstrap ? 0 : 1);
  if (forest_.settings_.bootstrap) {
    for (std::size_t i = 0; i < count_; ++i) ++weights_[rng_.index(count_)];
  }
  const auto take = [this](const List& from, List& to) {
    to.clear();
    for (const std::uint32_t i : from) {
      if (weights_[i] > 0) to.push_back(i);
    }
  };
  take(all_, members_);
  for (std::size_t k = 0; k < orders_.size(); ++k) take(orders_[k], lists_[k]);
}

void TreeGrower::grow() {
  draw_sample();
  std::vector<Range> open = {{0, members_.size()}};
  while (!open.empty()) {
    const Range range = open.back();
    open.pop_back();
    grow(range, open);
  }
}

void TreeGrower::grow(const Range& range, std::vector<Range>& open) {
  const std::size_t index = forest_.nodes_.size();
  if (range.parent) forest_.nodes_[*range.parent].right = static_cast<std::uint32_t>(index);
  forest_.nodes_.emplace_back();
  Forest::Node& node = forest_.nodes_.back();

  double sum = 0, squares = 0;
  weight_ = 0;
  for (std::size_t k = range.begin; k < range.end; ++k) {
    const std::uint32_t i = members_[k];
    weight_ += weights_[i];
    sum += weights_[i] * targets_[i];
  }
  const double mean = sum / weight_;
  for (std::size_t k = range.begin; k < range.end; ++k) {
    const std::uint32_t i = members_[k];
    const double difference = targets_[i] - mean;
    parts_[i] = {weights_[i], weights_[i] * difference};
    squares += weights_[i] * difference * difference;
  }
  // Targets that differ only by rounding make a leaf.
  const bool differ = squares > weight_ * mean * mean * 1e-28;
  const auto split = differ ? best_split(range) : std::nullopt;
  if (!split) {
    node.value = mean;
    node.variance = squares / weight_;
    return;
  }
  cut(range, *split, node);
  const std::size_t middle = partition(range, node);
  // The left child is grown next, because it must be the next node.
  open.push_back({middle, range.end, index});
  open.push_back({range.begin, middle});
}

// Finds the best split among a random share of the dimensions; it tries the others only if these
// cannot be split.
std::optional<TreeGrower::Split> TreeGrower::best_split(const Range& range) {
  const std::size_t d = dimensions_.size();
  const auto wanted = static_cast<std::size_t>(
      std::max(1.0, std::nearbyint(forest_.settings_.share * static_cast<double>(d))));
  Split best;
  for (std::size_t k = 0; k < d && (k < wanted || best.gain < 0); ++k) {
    // Shuffles only as far as needed.
    std::swap(dimensions_[k], dimensions_[k + rng_.index(d - k)]);
    const std::size_t dimension = dimensions_[k];
    if (forest_.categories_[dimension] == 0) {
      try_positions(range, dimension, best);
    } else {
      try_categories(range, dimension, best);
    }
  }
  if (best.gain < 0) return std::nullopt;
  return best;
}

// By how much a split lowers the squared error, divided by weight_. The formula is short because
// the differences of both sides add up to zero.
double TreeGrower::gain(const Sum& left) const {
  const double right = weight_ - left.weight;
  const auto least = static_cast<double>(forest_.settings_.least_leaf);
  if (left.weight < least || right < least) return -1;
  return left.target * left.target / (left.weight * right);
}

void TreeGrower::try_positions(const Range& range, std::size_t dimension, Split& best) {
  const double* column = columns_.data() + dimension * count_;
  const List& list = lists_[dimension];
  std::size_t end = range.end;
  Sum inactive;
  // Inactive observations are at the end of the list.
  while (end > range.begin && std::isnan(column[list[end - 1]])) inactive.add(parts_[list[--end]]);
  if (end == range.begin) return;

  const bool mixed = end < range.end;
  const auto offer = [&](double value, double low, double high, bool inactive_left) {
    if (value > best.gain) best = {value, dimension, low, high, 0, inactive_left, mixed};
  };
  Sum left;
  double x = column[list[range.begin]];
  for (std::size_t k = range.begin; k + 1 < end; ++k) {
    left.add(parts_[list[k]]);
    const double next = column[list[k + 1]];
    if (next > x) {
      offer(gain(left), x, next, false);
      if (mixed) {
        // Each cut is tried with the inactive observations on either side.
        Sum both = left;
        both.add(inactive);
        offer(gain(both), x, next, true);
      }
      x = next;
    }
  }
  if (mixed) {
    // The last cut separates all active observations from the inactive ones.
    const double infinity = std::numeric_limits<double>::infinity();
    left.add(parts_[list[end - 1]]);
    offer(gain(left), infinity, infinity, false);
  }
}

void TreeGrower::group_categories(const Range& range, std::size_t dimension) {
  const double* column = columns_.data() + dimension * count_;
  const std::size_t n = forest_.categories_[dimension];
  groups_.assign(n + 1, {});
  for (std::size_t k = range.begin; k < range.end; ++k) {
    const std::uint32_t i = members_[k];
    const double x = column[i];
    groups_[x == x ? static_cast<std::size_t>(x) : n].add(parts_[i]);
  }
  ordered_.clear();
  for (std::size_t c = 0; c <= n; ++c) {
    if (groups_[c].weight > 0) ordered_.push_back(c);
  }
  std::ranges::sort(ordered_, [this](std::size_t a, std::size_t b) {
    const double x = groups_[a].target / groups_[a].weight;
    const double y = groups_[b].target / groups_[b].weight;
    return x != y ? x < y : a < b;
  });
}

void TreeGrower::try_categories(const Range& range, std::size_t dimension, Split& best) {
  group_categories(range, dimension);
  Sum left;
  for (std::size_t k = 0; k + 1 < ordered_.size(); ++k) {
    left.add(groups_[ordered_[k]]);
    const double value = gain(left);
    if (value > best.gain) best = {value, dimension, 0, 0, k + 1, false, false};
  }
}

// Values that the node has not seen (categories, or inactive) go to a random side, so that the
// trees disagree about them.
void TreeGrower::cut(const Range& range, const Split& split, Forest::Node& node) {
  node.dimension = static_cast<std::uint32_t>(split.dimension);
  node.inactive_left = split.inactive_known ? split.inactive_left : rng_.index(2) == 0;
  const std::size_t n = forest_.categories_[split.dimension];
  if (n == 0) {
    node.value = rng_.uniform(split.low, split.high);
    if (!(node.value < split.high)) node.value = split.low;  // or both are infinite
    return;
  }
  const std::size_t begin = forest_.bits_.size();
  node.left_set = static_cast<std::uint32_t>(begin);
  for (std::size_t c = 0; c < n; c += 32) {
    forest_.bits_.push_back(static_cast<std::uint32_t>(rng_() >> 32));
  }
  group_categories(range, split.dimension);
  for (std::size_t k = 0; k < ordered_.size(); ++k) {
    const std::size_t c = ordered_[k];
    const bool left = k < split.left_ends;
    if (c == n) {
      node.inactive_left = left;
      continue;
    }
    const std::uint32_t bit = std::uint32_t{1} << (c % 32);
    std::uint32_t& word = forest_.bits_[begin + c / 32];
    word = left ? word | bit : word & ~bit;
  }
}

std::size_t TreeGrower::partition(const Range& range, const Forest::Node& node) {
  const double* column = columns_.data() + node.dimension * count_;
  for (std::size_t k = range.begin; k < range.end; ++k) {
    const std::uint32_t i = members_[k];
    goes_left_[i] = forest_.goes_left(node, column[i]) ? 1 : 0;
  }
  // Keeps the order on both sides, and has no branch that the processor could mispredict.
  const auto divide = [&](List& list) {
    std::size_t left = range.begin, right = 0;
    for (std::size_t k = range.begin; k < range.end; ++k) {
      const std::uint32_t i = list[k];
      list[left] = i;
      others_[right] = i;
      left += goes_left_[i];
      right += 1 - goes_left_[i];
    }
    std::copy_n(others_.begin(), right, list.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
  };
  for (std::size_t k = 0; k < lists_.size(); ++k) {
    if (!lists_[k].empty()) divide(lists_[k]);
  }
  return divide(members_);
}

}  // namespace attune
