#pragma once
// The settings of a buffer. docs/workloads.md, "Buffers", explains them to users.
//
// Producers and consumers wait for each other at a buffer, so this file refuses settings with which
// both could wait for ever: a batch that could never be there (above the capacity) or would never
// be allowed (more than the window permits), a lower rate limit above the uses of an item, and an
// upper one with `fifo`, where a full buffer waits for the consumer. With all other settings the
// rule in buffer.h, "Waiting", prevents deadlocks.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "cluster/workload/buffer/rate_limit.h"

namespace attune {

enum class BufferKind { fifo, uniform, prioritised };
std::string_view to_text(BufferKind kind);

struct BufferPolicy {
  BufferKind kind = BufferKind::uniform;
  std::size_t capacity = 10'000;  // items, 1 to 10^7
  std::size_t batch = 256;        // the largest batch that may be sampled, 1 to capacity
  bool replace = false;           // uniform: whether a batch may have an item more than once
  // A batch of n is given out once there are min_items, and min_ratio * n, items.
  std::size_t min_items = 1;
  double min_ratio = 1;
  // An item leaves once it was given out so often; 1 to 10^9.
  std::optional<std::int64_t> max_use;
  std::optional<std::int64_t> max_staleness;  // in iterations, at least 0
  RateLimits rate_limit;
  // Of prioritised ones; Schaul et al. 2016, sections 3.3 and 3.4.
  double alpha = 0.6;             // 0 (uniform) to 1
  double beta = 0.4;              // of the first batch, 0 to 1
  std::int64_t anneal = 100'000;  // batches until beta is 1, at least 1

  // Whether one batch may have an item more than once.
  bool repeats() const { return kind == BufferKind::prioritised || replace; }
  // How often an item can be given out at most.
  std::int64_t uses() const { return kind == BufferKind::fifo ? 1 : max_use.value_or(INT64_MAX); }
  // How many items must be there for a batch of n.
  std::size_t needed(std::size_t n) const;

  bool operator==(const BufferPolicy&) const = default;
};

// Reads {"policy": "uniform", ...}. The error names the setting and says what would be right.
// Unknown settings, and those that the policy does not use, are errors. A missing `batch` becomes
// the largest one up to 256 that `capacity` and `min_ratio` allow.
Result<BufferPolicy> parse_buffer_policy(const json& settings);
// parse_buffer_policy() reads it back as the same policy.
json to_json(const BufferPolicy& policy);

}  // namespace attune
