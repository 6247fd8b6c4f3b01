#pragma once
// A buffer as slow and obvious as can be, to compare Buffer with. What is drawn it cannot know: it
// is told, and checks that it could be.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/workload/buffer/buffer.h"

namespace attune {

class BufferModel {
 public:
  explicit BufferModel(const BufferPolicy& policy) : policy_(policy) {}

  Pushed push(const std::string& producer, std::int64_t first,
              const std::vector<BufferItem>& items) {
    Pushed pushed;
    if (closed) return {BufferAnswer::closed, 0};
    for (const BufferItem& item : items) {
      const std::int64_t seq = first + static_cast<std::int64_t>(pushed.taken);
      if (seq > taken[producer]) {
        if (is_stale(item)) {
          ++stats.stale;
        } else {
          pushed.answer = push_answer();
          if (pushed.answer != BufferAnswer::ok) break;
          if (rows.size() == policy_.capacity) {
            rows.erase(rows.begin());
            ++stats.replaced;
          }
          if (item.priority) largest = std::max(largest, *item.priority + 1e-5);
          rows.push_back({next_id++, item, 0, item.priority ? *item.priority + 1e-5 : largest});
          rate_pushed = rate_pushed * keep() + 1;
          rate_sampled *= keep();
        }
        ++stats.pushed;
        taken[producer] = seq;
      }
      ++pushed.taken;
    }
    return pushed;
  }

  BufferAnswer sample_answer(std::size_t n) const {
    if (closed) return BufferAnswer::closed;
    const double size = static_cast<double>(rows.size()), wanted = static_cast<double>(n);
    const bool repeats = policy_.replace || policy_.kind == BufferKind::prioritised;
    if (rows.empty() || rows.size() < policy_.min_items || size < policy_.min_ratio * wanted)
      return BufferAnswer::few;
    if (!repeats && rows.size() < n) return BufferAnswer::few;
    if (repeats && policy_.max_use) {
      double left = 0;
      for (const Row& row : rows) left += static_cast<double>(*policy_.max_use - row.uses);
      if (left < wanted) return BufferAnswer::few;
    }
    if (std::isfinite(policy_.rate_limit.max) &&
        rate_sampled + wanted > policy_.rate_limit.max * rate_pushed)
      return BufferAnswer::rate;
    return BufferAnswer::ok;
  }

  BufferAnswer push_answer() const {
    if (closed) return BufferAnswer::closed;
    if (policy_.kind == BufferKind::fifo && rows.size() == policy_.capacity)
      return BufferAnswer::full;
    const double pushes = rate_pushed * keep() + 1, samples = rate_sampled * keep();
    if (samples < policy_.rate_limit.min * pushes &&
        sample_answer(policy_.batch) == BufferAnswer::ok)
      return BufferAnswer::rate;
    return BufferAnswer::ok;
  }

  // The reason why this batch is impossible; empty: it is not.
  std::string take(const std::vector<Drawn>& batch) {
    const double beta =
        std::min(1.0, policy_.beta + (1 - policy_.beta) * static_cast<double>(stats.batches) /
                                         static_cast<double>(policy_.anneal));
    double least = INFINITY;
    for (const Row& row : rows) least = std::min(least, row.priority);
    std::set<ItemId> seen;
    for (const Drawn& one : batch) {
      const auto row = std::ranges::find(rows, one.id, &Row::id);
      if (row == rows.end()) return "an item that is not there";
      if (row->item.meta != one.meta) return "another item's metadata";
      if (policy_.kind == BufferKind::fifo && row != rows.begin()) return "not the oldest";
      if (is_stale(row->item)) return "a stale item";
      const bool again = !seen.insert(one.id).second;
      if (policy_.kind == BufferKind::uniform && !policy_.replace && again) return "twice";
      const double weight = policy_.kind == BufferKind::prioritised
                                ? std::pow(row->priority / least, -policy_.alpha * beta)
                                : 1;
      if (std::abs(one.weight - weight) > 1e-9) return "a wrong weight";
      const bool once = policy_.kind == BufferKind::fifo;
      if (++row->uses == (once ? 1 : policy_.max_use.value_or(-1))) {
        rows.erase(row);
        ++stats.used_up;
      }
      ++stats.sampled;
    }
    ++stats.batches;
    rate_sampled += static_cast<double>(batch.size());
    return "";
  }

  std::size_t update(const std::vector<ItemId>& ids, const std::vector<double>& priorities) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto row = std::ranges::find(rows, ids[i], &Row::id);
      if (row == rows.end() || policy_.kind != BufferKind::prioritised) continue;
      row->priority = priorities[i] + 1e-5;
      largest = std::max(largest, row->priority);
      ++count;
    }
    return count;
  }

  std::size_t advance(std::int64_t to) {
    iteration = std::max(iteration, to);
    const std::size_t count =
        std::erase_if(rows, [&](const Row& row) { return is_stale(row.item); });
    stats.stale += static_cast<std::int64_t>(count);
    return count;
  }

  void close() {
    stats.discarded += static_cast<std::int64_t>(rows.size());
    rows.clear();
    closed = true;
  }

  struct Row {
    ItemId id = 0;
    BufferItem item;
    std::int64_t uses = 0;
    double priority = 1;
  };
  std::vector<Row> rows;  // by age
  std::map<std::string, std::int64_t> taken;
  BufferStats stats;
  bool closed = false;

 private:
  bool is_stale(const BufferItem& item) const {
    return policy_.max_staleness && item.collect_iter &&
           iteration - *item.collect_iter > *policy_.max_staleness;
  }
  double keep() const { return 1 - 1 / policy_.rate_limit.window; }

  BufferPolicy policy_;
  ItemId next_id = 1;
  std::int64_t iteration = 0;
  double largest = 1, rate_pushed = 0, rate_sampled = 0;
};

}  // namespace attune
