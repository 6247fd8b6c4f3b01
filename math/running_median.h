#pragma once
// The median of a growing set of numbers: two heaps, insertion O(log n), query O(1), eight bytes a
// number.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace attune {

// Not thread safe. No NaN.
class RunningMedian {
 public:
  void insert(double x) {
    if (high_.empty() || x >= high_.front()) {
      push(high_, x, std::greater<>());
    } else {
      push(low_, x, std::less<>());
    }
    // low_ holds size / 2 numbers, so the top of high_ is the upper median.
    if (low_.size() > size() / 2) {
      push(high_, pop(low_, std::less<>()), std::greater<>());
    } else if (low_.size() < size() / 2) {
      push(low_, pop(high_, std::greater<>()), std::less<>());
    }
  }

  std::size_t size() const { return low_.size() + high_.size(); }

  // Element size() / 2 in ascending order. size() > 0.
  double upper_median() const { return high_.front(); }

  // All numbers in the order of the heaps, from which restore() makes an equal object. Both are
  // O(n).
  std::vector<double> values() const {
    std::vector<double> all = low_;
    all.insert(all.end(), high_.begin(), high_.end());
    return all;
  }
  // Nothing if `values` cannot have come from values().
  static std::optional<RunningMedian> restore(std::span<const double> values) {
    const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    RunningMedian median;
    median.low_.assign(values.begin(), half);
    median.high_.assign(half, values.end());
    const bool apart = median.low_.empty() || median.low_.front() <= median.high_.front();
    if (!apart || !std::ranges::is_heap(median.low_, std::less<>()) ||
        !std::ranges::is_heap(median.high_, std::greater<>())) {
      return std::nullopt;
    }
    return median;
  }

 private:
  template <class Order>
  static void push(std::vector<double>& heap, double x, Order order) {
    heap.push_back(x);
    std::ranges::push_heap(heap, order);
  }
  template <class Order>
  static double pop(std::vector<double>& heap, Order order) {
    std::ranges::pop_heap(heap, order);
    const double x = heap.back();
    heap.pop_back();
    return x;
  }

  std::vector<double> low_;   // largest first
  std::vector<double> high_;  // smallest first
};

}  // namespace attune
