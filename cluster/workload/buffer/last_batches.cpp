#include "cluster/workload/buffer/last_batches.h"

#include <utility>

#include "base/saved_numbers.h"
#include "cluster/workload/buffer/buffer.h"

namespace attune {
namespace {

std::unexpected<Error> wrong(const char* what) {
  return fail(std::string("saved batches of a buffer: wrong ") + what);
}

Result<GivenBatch> load_batch(const json& state, const BufferPolicy& policy, ItemId next_id) {
  GivenBatch batch;
  batch.number = TRY(integer_at(state, "number"));
  if (batch.number < 1 || batch.number > kMostWhole) return wrong("number");
  const std::vector<double> ids = TRY(numbers_at(state, "ids"));
  const std::vector<double> weights = TRY(numbers_at(state, "weights"));
  const json metas = TRY(array_at(state, "metas"));
  if (ids.empty() || ids.size() > policy.batch || weights.size() != ids.size() ||
      metas.size() != ids.size())
    return wrong("number of items");
  batch.items.resize(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Drawn& item = batch.items[i];
    if (!is_index(ids[i], static_cast<double>(next_id)) || ids[i] < 1) return wrong("ids");
    item.id = static_cast<ItemId>(ids[i]);
    if (!(weights[i] > 0 && weights[i] <= 1)) return wrong("weights");
    item.weight = weights[i];
    if (!metas[i].is_string()) return wrong("metas");
    item.meta = metas[i].get<std::string>();
    if (!check_item({item.meta, {}, {}})) return wrong("metas");
  }
  return batch;
}

}  // namespace

const GivenBatch* LastBatches::find(std::string_view consumer) const {
  const auto found = batches_.find(consumer);
  return found == batches_.end() ? nullptr : &found->second;
}

void LastBatches::keep(std::string_view consumer, GivenBatch batch) {
  batches_[std::string(consumer)] = std::move(batch);
}

void LastBatches::forget(std::string_view consumer) {
  if (const auto found = batches_.find(consumer); found != batches_.end()) batches_.erase(found);
}

json LastBatches::save() const {
  json state = json::array();
  for (const auto& [consumer, batch] : batches_) {
    std::vector<double> ids, weights;
    json metas = json::array();
    for (const Drawn& item : batch.items) {
      ids.push_back(static_cast<double>(item.id));
      weights.push_back(item.weight);
      metas.push_back(item.meta);
    }
    state.push_back({{"consumer", consumer},
                     {"number", batch.number},
                     {"ids", save_numbers(ids)},
                     {"weights", save_numbers(weights)},
                     {"metas", std::move(metas)}});
  }
  return state;
}

Result<LastBatches> LastBatches::load(const json& state, const BufferPolicy& policy, ItemId next_id,
                                      std::int64_t batches, std::int64_t sampled) {
  LastBatches loaded;
  std::int64_t items = 0;
  for (const json& each : state) {
    std::string consumer = TRY(text_at(each, "consumer"));
    GivenBatch batch = TRY(load_batch(each, policy, next_id));
    items += std::ssize(batch.items);
    if (!loaded.batches_.emplace(std::move(consumer), std::move(batch)).second)
      return wrong("consumers");
  }
  if (std::ssize(loaded.batches_) > batches || items > sampled) return wrong("counts");
  return loaded;
}

}  // namespace attune
