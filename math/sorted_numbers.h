#pragma once
// A growing collection of numbers in ascending order, with access by rank.
//
// The numbers stand in sorted blocks of at most 512. With 10^5 numbers an insertion moves at most
// one block and passes over some 400 block sizes, which takes a fraction of a microsecond; one
// sorted vector would move half a megabyte.
#include <algorithm>
#include <cstddef>
#include <vector>

namespace attune {

// Not thread safe. No NaN; infinities are numbers like others.
class SortedNumbers {
 public:
  void insert(double x) {
    auto block = std::ranges::lower_bound(blocks_, x, {}, [](const Block& b) { return b.back(); });
    if (block == blocks_.end()) {
      if (blocks_.empty()) blocks_.emplace_back();
      block = std::prev(blocks_.end());
    }
    block->insert(std::ranges::upper_bound(*block, x), x);
    ++size_;
    if (block->size() <= kMost) return;
    Block upper(block->begin() + kMost / 2, block->end());
    block->resize(kMost / 2);
    blocks_.insert(std::next(block), std::move(upper));
  }

  // Removes one of the numbers that equal x. Returns whether there was one.
  bool erase(double x) {
    const auto block =
        std::ranges::lower_bound(blocks_, x, {}, [](const Block& b) { return b.back(); });
    if (block == blocks_.end()) return false;
    const auto found = std::ranges::lower_bound(*block, x);
    if (*found != x) return false;
    block->erase(found);
    if (block->empty()) blocks_.erase(block);
    --size_;
    return true;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The number of this rank, counted from 0 for the smallest. rank < size().
  double operator[](std::size_t rank) const {
    auto block = blocks_.begin();
    while (rank >= block->size()) rank -= (block++)->size();
    return (*block)[rank];
  }

  // How many numbers are smaller than x.
  std::size_t count_below(double x) const {
    std::size_t count = 0;
    for (const Block& block : blocks_) {
      if (block.back() >= x) {
        return count + static_cast<std::size_t>(std::ranges::lower_bound(block, x) - block.begin());
      }
      count += block.size();
    }
    return count;
  }

  // All numbers in ascending order.
  std::vector<double> values() const {
    std::vector<double> all;
    all.reserve(size_);
    for (const Block& block : blocks_) all.insert(all.end(), block.begin(), block.end());
    return all;
  }

 private:
  using Block = std::vector<double>;
  static constexpr std::size_t kMost = 512;

  std::vector<Block> blocks_;  // none is empty
  std::size_t size_ = 0;
};

}  // namespace attune
