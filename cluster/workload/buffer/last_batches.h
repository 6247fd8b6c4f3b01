#pragma once
// The last batch of each consumer of a buffer. It is kept until the consumer wants the next one, so
// that it can be given again if it was lost on the way. Its items may exist nowhere else: those of
// `fifo`, and those that are used up, have left the buffer.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/workload/buffer/buffer_policy.h"
#include "cluster/workload/buffer/item_store.h"

namespace attune {

struct Drawn {
  ItemId id = 0;
  std::string meta;
  double weight = 1;  // of importance sampling, in (0, 1]

  bool operator==(const Drawn&) const = default;
};

struct GivenBatch {
  std::int64_t number = 0;  // counted from 1 by its consumer
  std::vector<Drawn> items;
};

class LastBatches {
 public:
  const GivenBatch* find(std::string_view consumer) const;  // null: none
  // Replaces the consumer's former batch.
  void keep(std::string_view consumer, GivenBatch batch);
  void forget(std::string_view consumer);
  void clear() { batches_.clear(); }
  bool empty() const { return batches_.empty(); }

  json save() const;
  // An error for what no buffer of this policy can have given. All ids must be below `next_id`.
  // `batches` and `sampled` are how many batches and items were ever given: there cannot be more
  // here.
  static Result<LastBatches> load(const json& state, const BufferPolicy& policy, ItemId next_id,
                                  std::int64_t batches, std::int64_t sampled);

 private:
  std::map<std::string, GivenBatch, std::less<>> batches_;
};

}  // namespace attune
