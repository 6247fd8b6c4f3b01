#pragma once
// Data between tasks: producers push items, consumers sample batches of them. An item is the
// metadata of a piece of data, a text that the buffer does not interpret; the data itself stays in
// files.
//
// Repeatable: what a call returns and changes depends only on the policy, the calls before it, and
// the Rng. There is no clock. So a journal can hold the calls (buffer_record.h), and a snapshot the
// whole state (save). Memory grows with the items in the buffer, the last batches, and the
// producers that are not forgotten.
//
// Waiting. A call that cannot be done now changes nothing and returns why. The owner of the buffer
// keeps the request, and tries it again after a change: waiting samples after a push that took
// items; waiting pushes after a sample that gave a batch, or an advance(); both after close();
// neither after an update(). The request that has waited longest goes first: a small sample can be
// done earlier than a large one, and would keep that waiting for ever. The lower rate limit makes a
// push wait only at moments when a batch of policy.batch items could be sampled, and `full` (fifo
// only) only when there are as many items as any batch needs. So there is no moment when all
// producers and consumers wait, whatever left the buffer unused.
//
// Not thread safe; one owner.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "cluster/workload/buffer/buffer_policy.h"
#include "cluster/workload/buffer/buffer_stats.h"
#include "cluster/workload/buffer/item_store.h"
#include "cluster/workload/buffer/last_batches.h"
#include "cluster/workload/buffer/rate_limit.h"
#include "cluster/workload/buffer/sum_tree.h"

namespace attune {

struct BufferItem {
  std::string meta;                // UTF-8, at most kMostMetaBytes
  std::optional<double> priority;  // 0 to kMostPriority; none: the largest so far
  // The iteration it was made for, 0 to 2^53; none: never stale.
  std::optional<std::int64_t> collect_iter;

  bool operator==(const BufferItem&) const = default;
};
inline constexpr std::size_t kMostMetaBytes = std::size_t{64} * 1024;
inline constexpr double kMostPriority = 1e100;  // the sum of 10^7 of them is far from overflow
inline constexpr std::int64_t kMostWhole = std::int64_t{1} << 53;  // a double holds it exactly
// Whether push() accepts the item; the error says what is wrong.
Result<void> check_item(const BufferItem& item);
// Whether push() accepts items number `first`, `first` + 1, ...; the error names the item.
Result<void> check_push(std::int64_t first, std::span<const BufferItem> items);
Result<void> check_priority(double priority);

struct Pushed {
  // Why the first item that was not taken has to wait; ok: all were taken.
  BufferAnswer answer = BufferAnswer::ok;
  std::size_t taken = 0;  // how many items were taken, from the first one on
};

struct Sampled {
  BufferAnswer answer = BufferAnswer::ok;
  std::vector<Drawn> items;  // as many as were asked for; none if the answer is not ok
};

class Buffer {
 public:
  // `policy` is one that parse_buffer_policy accepts.
  Buffer(const BufferPolicy& policy, const Rng& rng);

  // Takes items number `first`, `first` + 1, ... of `producer`, which numbers its items from 1 and
  // sends them in order. It takes as many as it can, in order. Items whose number is not above the
  // highest one taken are known: they count as taken and change nothing, so a producer can send
  // again what was not acknowledged. A full buffer drops its oldest item; but with fifo the
  // producer waits. An item that is too stale on arrival is taken and dropped. An error (a priority
  // that is no number, ...) names the item; then nothing was taken.
  Result<Pushed> push(std::string_view producer, std::int64_t first,
                      std::span<const BufferItem> items);
  // The same for items that check_push() has accepted, or for the last ones of such items.
  Pushed take(std::string_view producer, std::int64_t first, std::span<const BufferItem> items);
  // The highest number that was taken of the producer; 0: none.
  std::int64_t taken_of(std::string_view producer) const;
  // `who` will never push or sample again. Without this call a buffer would remember every attempt
  // of every task.
  void forget(std::string_view who);

  // A batch of exactly n items, or the answer why there is none now. An error unless 1 <= n <=
  // policy.batch. fifo: the oldest items, which leave. uniform: n different items, each set equally
  // likely; their order within the batch means nothing. With `replace`: n draws. prioritised: item
  // i is drawn with probability P(i) = p_i^alpha / sum p^alpha (equation 1 of Schaul et al. 2016),
  // by one draw in each of n equal intervals of the sum (appendix B.2.1). Its weight is (1/N
  // 1/P(i))^beta, divided by the largest such weight in the buffer (section 3.4); beta grows
  // linearly from policy.beta to 1 over policy.anneal batches. An item that was used for the last
  // time leaves at once, so the later draws of the batch do not see it; their intervals are those
  // of the remaining items.
  Result<Sampled> sample(std::size_t n);
  // The same as batch `number` of `consumer`, which numbers its batches in rising order from 1. The
  // batch is kept until the consumer's next one: given() returns it, if the consumer has not
  // received it and asks again. A number that is not above that of the last batch is an error.
  Result<BufferAnswer> give(std::string_view consumer, std::int64_t number, std::size_t n);
  // The last batch of the consumer; null: none.
  const GivenBatch* given(std::string_view consumer) const { return given_.find(consumer); }

  // Sets priorities of prioritised items, p_i = priority + 1e-5 (section 3.3), so that every item
  // can be drawn. If an id occurs twice its last priority counts. Ids of items that have left are
  // skipped: a late update is no error, and brings nothing back. With other policies nothing
  // happens. An error if a priority is not a number from 0 to kMostPriority, or if the lengths
  // differ; then nothing has changed. Returns how many were set.
  Result<std::size_t> update(std::span<const ItemId> ids, std::span<const double> priorities);

  // The consumer is at `iteration`; one that is lower than before is ignored. Drops the items of
  // which iteration - collect_iter > max_staleness, in whatever order they came. Returns how many.
  // Without max_staleness nothing happens.
  std::size_t advance(std::int64_t iteration);
  std::int64_t iteration() const { return iteration_; }

  // Drops all items; from now on push and sample answer `closed`. False: it was closed before.
  bool close();

  // Why a push of one new item, or a sample of n, would have to wait; ok: neither would.
  BufferAnswer push_answer() const;
  BufferAnswer sample_answer(std::size_t n) const;
  BufferStats stats() const;
  const BufferPolicy& policy() const { return policy_; }

  // Everything but the policy, with exact numbers. load(policy, save()) continues as this buffer
  // would.
  json save() const;
  // An error for every state that no buffer of this policy can have saved.
  static Result<Buffer> load(const BufferPolicy& policy, const json& state);

 private:
  bool is_stale(const std::optional<std::int64_t>& collect_iter) const;
  double weight_of(double priority) const;
  void see(double priority);
  void insert(const BufferItem& item);
  void erase(std::size_t place);
  void draw(std::size_t place, double weight, std::vector<Drawn>& batch);
  void draw_oldest(std::size_t n, std::vector<Drawn>& batch);
  void draw_different(std::size_t n, std::vector<Drawn>& batch);
  void draw_any(std::size_t n, std::vector<Drawn>& batch);
  void draw_prioritised(std::size_t n, std::vector<Drawn>& batch);
  Result<void> load_items(const json& state);
  Result<void> load_producers(const json& state);
  Result<void> load_counts(const json& state);

  BufferPolicy policy_;
  Rng rng_;
  ItemStore items_;
  SumTree tree_;  // p^alpha by place; prioritised only
  RateLimit rate_;
  std::map<std::string, std::int64_t, std::less<>> producers_;
  ItemId next_id_ = 1;
  std::int64_t iteration_ = 0;
  // Largest p so far, which a new item without a priority gets (Algorithm 1, line 6).
  double largest_ = 1;
  double newest_weight_ = 1;  // largest_^alpha
  std::int64_t uses_ = 0;     // sum of the uses of the present items
  bool closed_ = false;
  BufferStats counts_;
  LastBatches given_;
  std::vector<std::uint64_t> drawn_in_;  // scratch of draw_different: the draw that took the place
  std::uint64_t draws_ = 0;
};

}  // namespace attune
