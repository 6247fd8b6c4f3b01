#pragma once
// Data between tasks: producers push items, consumers sample batches of them. An item is the
// metadata of a piece of data (a JSON text that nobody here looks into); the data stays in files.
//
// Repeatable: what a call answers and does is a function of the policy, the calls before and the
// Rng. There is no clock. So a journal may hold the calls (buffer_record.h), and a snapshot all
// (save). Memory is that of the items that are there and of the producers that are not forgotten.
//
// Waiting. A call that cannot be done now changes nothing and answers why; whoever owns the buffer
// keeps the request, and asks again after something changed: a waiting sample after a push that
// took items, a waiting push after a sample that gave some or an advance(), all after close();
// after an update() nobody. What waits longest goes first: a small sample can be done earlier than
// a large one, and would keep it waiting for ever. The lower rate limit makes a push wait only at
// moments when a batch of policy.batch items could be sampled, and `full` (fifo only) only when
// there are as many as any batch needs. Hence at no moment producers and consumers all wait,
// whatever left the buffer unused.
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
  std::string meta;                          // UTF-8, at most kMostMetaBytes
  std::optional<double> priority;            // 0 to kMostPriority; none: the largest there was
  std::optional<std::int64_t> collect_iter;  // 0 to 2^53, of what made it; none: is never stale

  bool operator==(const BufferItem&) const = default;
};
inline constexpr std::size_t kMostMetaBytes = std::size_t{64} * 1024;
inline constexpr double kMostPriority = 1e100;  // the sum of 10^7 of them is far from overflow
inline constexpr std::int64_t kMostWhole = std::int64_t{1} << 53;  // a double holds it exactly
// Whether push() takes it; the error says what is wrong.
Result<void> check_item(const BufferItem& item);
// Whether push() takes items number `first`, `first` + 1, ...; the error names the item.
Result<void> check_push(std::int64_t first, std::span<const BufferItem> items);
Result<void> check_priority(double priority);

struct Pushed {
  BufferAnswer answer = BufferAnswer::ok;  // to the first item that was not taken; ok: all were
  std::size_t taken = 0;                   // so many of the first ones
};

struct Sampled {
  BufferAnswer answer = BufferAnswer::ok;
  std::vector<Drawn> items;  // as many as were asked for, or none when the answer is not ok
};

class Buffer {
 public:
  // `policy` is one that parse_buffer_policy accepts.
  Buffer(const BufferPolicy& policy, const Rng& rng);

  // Items number `first`, `first` + 1, ... of `producer`, which counts from 1 and sends in order.
  // Those with a number that is not above the highest one that was taken are known: they count as
  // taken and change nothing, so that a producer may send again what was not acknowledged. Takes as
  // many as it can, in order. A full buffer lets its oldest item go, except for fifo, where the
  // producer waits. An item that is too stale already is taken, and gone. An error (a priority that
  // is no number, ...) names the item; nothing was taken then.
  Result<Pushed> push(std::string_view producer, std::int64_t first,
                      std::span<const BufferItem> items);
  // The same for items that check_push() has accepted, or for the last ones of such.
  Pushed take(std::string_view producer, std::int64_t first, std::span<const BufferItem> items);
  // The highest number taken of it; 0: none.
  std::int64_t taken_of(std::string_view producer) const;
  // It will never push or sample again. (Else a buffer would remember every attempt of every task.)
  void forget(std::string_view who);

  // A batch of exactly n items, 1 <= n <= policy.batch; all else is an error.
  // fifo: the oldest ones, which leave. uniform: n different ones, all sets alike; the order within
  // the batch says nothing; with `replace` n draws. prioritised: item i with probability
  // P(i) = p_i^alpha / sum p^alpha (equation 1 of Schaul et al. 2016), one draw in each of n equal
  // intervals of the sum (appendix B.2.1), of the weight (1/N 1/P(i))^beta over the largest such
  // weight in the buffer (section 3.4), where beta goes from policy.beta linearly to 1 over
  // policy.anneal batches. An item that was used for the last time leaves at once, so that no draw
  // of the same batch sees it again; the intervals are then those of what is left.
  Result<Sampled> sample(std::size_t n);
  // The same as batch `number` of `consumer`, who numbers them in rising order from 1 on. It is
  // kept until the next one, so that a consumer asks again for what it has not heard: given() has
  // it. A number that is not above that of the last one is an error.
  Result<BufferAnswer> give(std::string_view consumer, std::int64_t number, std::size_t n);
  // The last batch of the consumer; nullptr: none.
  const GivenBatch* given(std::string_view consumer) const { return given_.find(consumer); }

  // New priorities of prioritised items, p_i = priority + 1e-5 (section 3.3), so that none is never
  // drawn; the last one counts when an id stands there twice. Ids that are gone are passed over: to
  // update late is no fault, and brings nothing back. With other policies nothing happens. An error
  // when a priority is not a number from 0 to kMostPriority or the lengths differ; nothing was
  // changed then. Answers how many were set.
  Result<std::size_t> update(std::span<const ItemId> ids, std::span<const double> priorities);

  // The consumer is at `iteration` (a lower one than before is passed over): items leave of which
  // iteration - collect_iter > max_staleness, in whatever order they came. Answers how many.
  // Without max_staleness nothing happens.
  std::size_t advance(std::int64_t iteration);
  std::int64_t iteration() const { return iteration_; }

  // False when it was closed before. Items leave, and push and sample answer `closed` from now on.
  bool close();

  // Why a push of one new item, or a sample of n, would have to wait; ok: neither would.
  BufferAnswer push_answer() const;
  BufferAnswer sample_answer(std::size_t n) const;
  BufferStats stats() const;
  const BufferPolicy& policy() const { return policy_; }

  // All but the policy; numbers with every bit. load(policy, save()) goes on as this one would.
  json save() const;
  // All or nothing; an error for whatever no buffer of this policy can have saved.
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
  double largest_ = 1;        // priority there ever was: what a new item gets, Algorithm 1 line 6
  double newest_weight_ = 1;  // largest_^alpha
  std::int64_t uses_ = 0;     // of the items that are there, together
  bool closed_ = false;
  BufferStats counts_;
  LastBatches given_;
  std::vector<std::uint64_t> drawn_in_;  // scratch of draw_different: the draw that took the place
  std::uint64_t draws_ = 0;
};

}  // namespace attune
