#pragma once
// The counts of a buffer, and its answers to requests.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/json.h"

namespace attune {

// few: not enough items. rate: the rate limit forbids it. full: a fifo without room.
enum class BufferAnswer { ok, few, rate, full, closed };
std::string_view to_text(BufferAnswer answer);

// pushed = size + used_up + stale + replaced + discarded, always.
struct BufferStats {
  std::int64_t pushed = 0;     // items that were taken; each counts once
  std::int64_t sampled = 0;    // items that were given out; each counts each time
  std::int64_t batches = 0;    // batches that were given out
  std::int64_t used_up = 0;    // left after their last use
  std::int64_t stale = 0;      // left because of max_staleness, some on arrival
  std::int64_t replaced = 0;   // left a full buffer for a newer item
  std::int64_t discarded = 0;  // were there when the buffer was closed
  // Made by stats(), not saved.
  std::size_t size = 0, capacity = 0, producers = 0;
  BufferAnswer push = BufferAnswer::ok;    // the answer to a push of one new item
  BufferAnswer sample = BufferAnswer::ok;  // the answer to a sample of policy.batch items

  bool operator==(const BufferStats&) const = default;
};
json to_json(const BufferStats& stats);

}  // namespace attune
