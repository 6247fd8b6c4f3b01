#pragma once
// A growing collection of entries in ascending order, with ranks and with sums of costs. It is to
// SortedNumbers (math/) what a map is to a set: sorted blocks of at most 512 entries. With 10^5
// entries each operation takes about a microsecond.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace attune {

// Entry: operator< tells any two entries apart. If it has a member `cost`, sums are available.
// Not thread safe.
template <class Entry>
class PromotionOrder {
 public:
  std::size_t size() const { return size_; }

  // Returns the entry's rank, counted from 0 for the smallest.
  std::size_t insert(Entry entry) {
    auto block = block_of(entry);
    if (blocks_.empty()) {
      block = blocks_.emplace(block);
    } else if (block == blocks_.end()) {
      --block;
    }
    std::size_t rank = 0;
    for (auto before = blocks_.begin(); before != block; ++before) rank += before->entries.size();
    auto& entries = block->entries;
    const auto at = place_of(entries, entry);
    rank += static_cast<std::size_t>(at - entries.begin());
    entries.insert(at, std::move(entry));
    ++size_;
    if (entries.size() > kMost) {
      Block upper;
      upper.entries.assign(entries.begin() + kMost / 2, entries.end());
      entries.erase(entries.begin() + kMost / 2, entries.end());
      add_up(upper);
      block = std::prev(blocks_.insert(std::next(block), std::move(upper)));
    }
    add_up(*block);
    return rank;
  }

  // The entry must be there.
  void erase(const Entry& entry) {
    const auto block = block_of(entry);
    block->entries.erase(place_of(block->entries, entry));
    --size_;
    if (block->entries.empty()) {
      blocks_.erase(block);
    } else {
      add_up(*block);
    }
  }

  // The entries of the ranks first, ..., last. last < size().
  std::vector<Entry> copy(std::size_t first, std::size_t last) const {
    std::vector<Entry> some;
    some.reserve(last - first + 1);
    std::size_t rank = 0;  // of the block's first entry
    for (const Block& block : blocks_) {
      const std::size_t end = rank + block.entries.size();
      for (std::size_t i = std::max(first, rank); i < std::min(last + 1, end); ++i) {
        some.push_back(block.entries[i - rank]);
      }
      rank = end;
    }
    return some;
  }

  // The sum of all costs, and of those up to and including an entry that is there. Up to 512
  // entries they are added one by one in their order, as Syne Tune adds them; so exact ties are
  // decided in the same way.
  double sum() const {
    double total = 0;
    for (const Block& block : blocks_) total += block.sum;
    return total;
  }
  double sum_through(const Entry& last) const {
    double total = 0;
    for (const Block& block : blocks_) {
      if (block.entries.back() < last) {
        total += block.sum;
        continue;
      }
      for (const Entry& entry : block.entries) {
        total += entry.cost;
        if (!(entry < last)) break;
      }
      break;
    }
    return total;
  }

  // How many entries each block has: sums depend on it in their last bit, so a saved order is cut
  // in the same way again.
  std::vector<double> block_sizes() const {
    std::vector<double> sizes;
    for (const Block& block : blocks_) sizes.push_back(static_cast<double>(block.entries.size()));
    return sizes;
  }
  // `sorted` has as many entries as all sizes, which are from 1 to 512, together.
  static PromotionOrder restore(std::span<const Entry> sorted, std::span<const double> sizes) {
    PromotionOrder order;
    for (const double size : sizes) {
      const auto here = sorted.subspan(order.size_, static_cast<std::size_t>(size));
      order.blocks_.push_back({{here.begin(), here.end()}});
      add_up(order.blocks_.back());
      order.size_ += here.size();
    }
    return order;
  }

  static constexpr std::size_t kMost = 512;

 private:
  struct Block {
    std::vector<Entry> entries;  // never empty once a call returns
    double sum = 0;
  };

  // The first block that may hold the entry.
  auto block_of(const Entry& entry) {
    return std::lower_bound(blocks_.begin(), blocks_.end(), entry,
                            [](const Block& b, const Entry& e) { return b.entries.back() < e; });
  }
  static auto place_of(std::vector<Entry>& entries, const Entry& entry) {
    return std::lower_bound(entries.begin(), entries.end(), entry);
  }

  static void add_up(Block& block) {
    if constexpr (requires(const Entry& entry) { entry.cost; }) {
      block.sum = 0;
      for (const Entry& entry : block.entries) block.sum += entry.cost;
    }
  }

  std::vector<Block> blocks_;
  std::size_t size_ = 0;
};

}  // namespace attune
