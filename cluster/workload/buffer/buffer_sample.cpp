// How a Buffer draws batches (buffer.h, sample()).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/workload/buffer/buffer.h"

namespace attune {

BufferAnswer Buffer::sample_answer(std::size_t n) const {
  if (closed_) return BufferAnswer::closed;
  if (items_.size() < policy_.needed(n)) return BufferAnswer::few;
  // Draws that repeat may use up items within one batch.
  if (policy_.repeats() && policy_.max_use) {
    const auto size = static_cast<std::int64_t>(items_.size());
    if (size * *policy_.max_use - uses_ < static_cast<std::int64_t>(n)) return BufferAnswer::few;
  }
  return rate_.may_sample(n) ? BufferAnswer::ok : BufferAnswer::rate;
}

Result<Sampled> Buffer::sample(std::size_t n) {
  if (n < 1 || n > policy_.batch)
    return fail(fmt::format("a batch of {} is asked for; this buffer gives 1 to {} (its \"batch\")",
                            n, policy_.batch));
  Sampled sampled{sample_answer(n), {}};
  if (sampled.answer != BufferAnswer::ok) return sampled;
  sampled.items.reserve(n);
  if (policy_.kind == BufferKind::fifo)
    draw_oldest(n, sampled.items);
  else if (policy_.kind == BufferKind::prioritised)
    draw_prioritised(n, sampled.items);
  else if (policy_.replace)
    draw_any(n, sampled.items);
  else
    draw_different(n, sampled.items);
  ++counts_.batches;
  counts_.sampled += static_cast<std::int64_t>(n);
  rate_.sampled(n);
  return sampled;
}

Result<BufferAnswer> Buffer::give(std::string_view consumer, std::int64_t number, std::size_t n) {
  const GivenBatch* last = given(consumer);
  const std::int64_t next = last == nullptr ? 1 : last->number + 1;
  if (number < next || number > kMostWhole)
    return fail(fmt::format("batch {} is asked for; the next one has the number {}", number, next));
  Sampled sampled = TRY(sample(n));
  if (sampled.answer == BufferAnswer::ok) given_.keep(consumer, {number, std::move(sampled.items)});
  return sampled.answer;
}

void Buffer::draw(std::size_t place, double weight, std::vector<Drawn>& batch) {
  ++uses_;
  if (items_.count_use(place) < policy_.uses()) {
    batch.push_back({items_.at(place).id, items_.at(place).meta, weight});
    return;
  }
  batch.push_back({items_.at(place).id, items_.take_meta(place), weight});
  erase(place);
  ++counts_.used_up;
}

void Buffer::draw_oldest(std::size_t n, std::vector<Drawn>& batch) {
  for (std::size_t i = 0; i < n; ++i) draw(items_.oldest(), 1, batch);
}

// R. Floyd's algorithm F2 (Bentley & Floyd, "Programming Pearls: A Sample of Brilliance", CACM 30,
// 1987): n random numbers for n draws, whatever the size. Places that hold the number of this draw
// (`draws_`) in `drawn_in_` are taken, so nothing must be cleared before the next one.
void Buffer::draw_different(std::size_t n, std::vector<Drawn>& batch) {
  const std::size_t size = items_.size();
  drawn_in_.resize(size, 0);
  ++draws_;
  std::vector<ItemId> ids;  // places move when an item leaves
  ids.reserve(n);
  for (std::size_t last = size - n; last < size; ++last) {
    const std::size_t drawn = rng_.index(last + 1);
    const std::size_t place = drawn_in_[drawn] == draws_ ? last : drawn;
    drawn_in_[place] = draws_;
    ids.push_back(items_.at(place).id);
    if (!policy_.max_use) draw(place, 1, batch);
  }
  if (!policy_.max_use) return;
  for (const ItemId id : ids) draw(*items_.find(id), 1, batch);
}

void Buffer::draw_any(std::size_t n, std::vector<Drawn>& batch) {
  for (std::size_t i = 0; i < n; ++i) draw(rng_.index(items_.size()), 1, batch);
}

void Buffer::draw_prioritised(std::size_t n, std::vector<Drawn>& batch) {
  const double done = static_cast<double>(counts_.batches) / static_cast<double>(policy_.anneal);
  const double beta = policy_.beta + (1 - policy_.beta) * std::min(done, 1.0);
  const double least = tree_.least();
  for (std::size_t i = 0; i < n; ++i) {
    const double part = (static_cast<double>(i) + rng_.uniform()) / static_cast<double>(n);
    const std::size_t place = tree_.find(part * tree_.total());
    // N and the sum cancel out of (N P(i))^-beta over the largest one, (N P(least))^-beta.
    draw(place, std::pow(least / tree_.weight(place), beta), batch);
  }
}

}  // namespace attune
