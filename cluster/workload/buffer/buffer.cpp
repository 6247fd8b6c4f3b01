#include "cluster/workload/buffer/buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace attune {
namespace {

constexpr double kLeastPriority = 1e-5;  // epsilon of section 3.3

bool is_ascii(std::string_view text) {
  unsigned char any = 0;
  for (const char c : text) any |= static_cast<unsigned char>(c);
  return any < 0x80;
}

}  // namespace

Result<void> check_priority(double priority) {
  if (priority >= 0 && priority <= kMostPriority) return {};
  return fail(fmt::format("a priority must be from 0 to {}, not {}", kMostPriority, priority));
}

Result<void> check_item(const BufferItem& item) {
  if (item.meta.size() > kMostMetaBytes)
    return fail(fmt::format("at most {} bytes of metadata are kept, not {}", kMostMetaBytes,
                            item.meta.size()));
  if (!is_ascii(item.meta) && !is_utf8(item.meta)) return fail("metadata must be UTF-8");
  if (item.priority) TRY(check_priority(*item.priority));
  if (item.collect_iter.value_or(0) < 0 || item.collect_iter.value_or(0) > kMostWhole)
    return fail(fmt::format("collect_iter must be from 0 to 2^53, not {}", *item.collect_iter));
  return {};
}

Result<void> check_push(std::int64_t first, std::span<const BufferItem> items) {
  if (first < 1 || first > kMostWhole - std::ssize(items))
    return fail(fmt::format("items are numbered from 1 to 2^53, not {}", first));
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (const auto good = check_item(items[i]); !good)
      return fail(
          fmt::format("item {}: {}", first + std::ssize(items.first(i)), good.error().message));
  }
  return {};
}

Buffer::Buffer(const BufferPolicy& policy, const Rng& rng)
    : policy_(policy),
      rng_(rng),
      items_(policy.max_staleness.has_value()),
      rate_(policy.rate_limit) {}

BufferAnswer Buffer::push_answer() const {
  if (closed_) return BufferAnswer::closed;
  if (policy_.kind == BufferKind::fifo && items_.size() == policy_.capacity)
    return BufferAnswer::full;
  // The rate limit holds a push back only while a whole batch could be sampled (buffer.h,
  // "Waiting").
  const bool waits = !rate_.may_push() && sample_answer(policy_.batch) == BufferAnswer::ok;
  return waits ? BufferAnswer::rate : BufferAnswer::ok;
}

bool Buffer::is_stale(const std::optional<std::int64_t>& collect_iter) const {
  return policy_.max_staleness && collect_iter &&
         iteration_ - *collect_iter > *policy_.max_staleness;
}

double Buffer::weight_of(double priority) const { return std::pow(priority, policy_.alpha); }

void Buffer::see(double priority) {
  if (priority <= largest_) return;
  largest_ = priority;
  newest_weight_ = weight_of(largest_);
}

void Buffer::insert(const BufferItem& item) {
  if (items_.size() == policy_.capacity) {
    erase(items_.oldest());
    ++counts_.replaced;
  }
  if (policy_.kind == BufferKind::prioritised) {
    if (item.priority) see(*item.priority + kLeastPriority);
    tree_.set(items_.size(),
              item.priority ? weight_of(*item.priority + kLeastPriority) : newest_weight_);
  }
  items_.insert({next_id_++, item.meta, item.collect_iter});
  rate_.pushed();
}

void Buffer::erase(std::size_t place) {
  uses_ -= items_.at(place).uses;
  if (policy_.kind == BufferKind::prioritised) {
    const std::size_t last = items_.size() - 1;
    if (place != last) tree_.set(place, tree_.weight(last));
    tree_.set(last, 0);
  }
  items_.erase(place);
}

Result<Pushed> Buffer::push(std::string_view producer, std::int64_t first,
                            std::span<const BufferItem> items) {
  TRY(check_push(first, items));
  return take(producer, first, items);
}

Pushed Buffer::take(std::string_view producer, std::int64_t first,
                    std::span<const BufferItem> items) {
  if (closed_) return Pushed{BufferAnswer::closed, 0};
  const std::int64_t known = taken_of(producer);
  Pushed pushed;
  for (const BufferItem& item : items) {
    if (first + static_cast<std::int64_t>(pushed.taken) > known) {
      if (is_stale(item.collect_iter)) {
        // Needs no room and cannot be sampled, so it never waits, and does not count for the rate
        // limit.
        ++counts_.stale;
      } else {
        pushed.answer = push_answer();
        if (pushed.answer != BufferAnswer::ok) break;
        insert(item);
      }
      ++counts_.pushed;
    }
    ++pushed.taken;
  }
  const std::int64_t last = first + static_cast<std::int64_t>(pushed.taken) - 1;
  if (pushed.taken > 0 && last > known) {
    const auto found = producers_.find(producer);
    if (found == producers_.end())
      producers_.emplace(producer, last);
    else
      found->second = last;
  }
  return pushed;
}

std::int64_t Buffer::taken_of(std::string_view producer) const {
  const auto found = producers_.find(producer);
  return found == producers_.end() ? 0 : found->second;
}

void Buffer::forget(std::string_view who) {
  if (const auto found = producers_.find(who); found != producers_.end()) producers_.erase(found);
  given_.forget(who);
}

Result<std::size_t> Buffer::update(std::span<const ItemId> ids,
                                   std::span<const double> priorities) {
  if (ids.size() != priorities.size())
    return fail(fmt::format("{} ids, but {} priorities", ids.size(), priorities.size()));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (const auto good = check_priority(priorities[i]); !good)
      return fail(fmt::format("item {}: {}", ids[i], good.error().message));
  }
  std::size_t count = 0;
  if (policy_.kind != BufferKind::prioritised) return count;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto place = items_.find(ids[i]);
    if (!place) continue;
    const double priority = priorities[i] + kLeastPriority;
    tree_.set(*place, weight_of(priority));
    see(priority);
    ++count;
  }
  return count;
}

std::size_t Buffer::advance(std::int64_t iteration) {
  if (!policy_.max_staleness) return 0;
  iteration_ = std::max(iteration_, iteration);
  std::size_t count = 0;
  while (const auto place = items_.first_before(iteration_ - *policy_.max_staleness)) {
    erase(*place);
    ++count;
  }
  counts_.stale += static_cast<std::int64_t>(count);
  return count;
}

bool Buffer::close() {
  if (closed_) return false;
  closed_ = true;
  counts_.discarded += static_cast<std::int64_t>(items_.size());
  items_.restore({});
  given_.clear();
  tree_ = SumTree();
  uses_ = 0;
  return true;
}

BufferStats Buffer::stats() const {
  BufferStats stats = counts_;
  stats.size = items_.size();
  stats.capacity = policy_.capacity;
  stats.producers = producers_.size();
  stats.push = push_answer();
  stats.sample = sample_answer(policy_.batch);
  return stats;
}

}  // namespace attune
