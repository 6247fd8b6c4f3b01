#pragma once
// What each consumer of a buffer was given last: kept until it wants the next batch, so that one
// that was lost on its way can be given again. Items of `fifo`, and those that are used up, are
// nowhere else by then.
//
// A value; not thread safe.
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
  std::int64_t number = 0;  // from 1 on, of its consumer
  std::vector<Drawn> items;
};

class LastBatches {
 public:
  const GivenBatch* find(std::string_view consumer) const;  // nullptr: none
  // In place of the one before.
  void keep(std::string_view consumer, GivenBatch batch);
  void forget(std::string_view consumer);
  void clear() { batches_.clear(); }
  bool empty() const { return batches_.empty(); }

  json save() const;
  // An error for what no buffer of this policy can have given: ids are below `next_id`, and of all
  // batches and items that were ever given these are some.
  static Result<LastBatches> load(const json& state, const BufferPolicy& policy, ItemId next_id,
                                  std::int64_t batches, std::int64_t sampled);

 private:
  std::map<std::string, GivenBatch, std::less<>> batches_;
};

}  // namespace attune
