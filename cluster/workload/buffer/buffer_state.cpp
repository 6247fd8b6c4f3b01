// Saves a Buffer, and loads a state that may come from a damaged file.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/saved_numbers.h"
#include "cluster/pool/fields.h"
#include "cluster/workload/buffer/buffer.h"

namespace attune {
namespace {

constexpr double kNoIteration = std::numeric_limits<double>::quiet_NaN();
constexpr double kMost = static_cast<double>(kMostWhole);

// The saved counts, in the order of the state's array.
constexpr std::int64_t BufferStats::* kCounts[] = {
    &BufferStats::pushed, &BufferStats::sampled,  &BufferStats::batches,  &BufferStats::used_up,
    &BufferStats::stale,  &BufferStats::replaced, &BufferStats::discarded};

std::unexpected<Error> wrong(std::string_view what) {
  return fail("saved buffer: wrong " + std::string(what));
}

}  // namespace

json Buffer::save() const {
  std::vector<double> ids, uses, iterations, weights, marks, counts;
  json metas = json::array(), producers = json::array();
  for (std::size_t place = 0; place < items_.size(); ++place) {
    const StoredItem& item = items_.at(place);
    ids.push_back(static_cast<double>(item.id));
    uses.push_back(static_cast<double>(item.uses));
    iterations.push_back(item.collect_iter ? static_cast<double>(*item.collect_iter)
                                           : kNoIteration);
    weights.push_back(tree_.weight(place));
    metas.push_back(item.meta);
  }
  for (const auto& [name, mark] : producers_) {
    producers.push_back(name);
    marks.push_back(static_cast<double>(mark));
  }
  for (const auto count : kCounts) counts.push_back(static_cast<double>(counts_.*count));
  const std::vector<double> rate = {rate_.counts().pushed, rate_.counts().sampled};
  return {{"rng", to_json(rng_)},
          {"closed", closed_},
          {"iteration", iteration_},
          {"next_id", next_id_},
          {"largest", save_numbers(std::vector{largest_})},
          {"counts", save_numbers(counts)},
          {"rate", save_numbers(rate)},
          {"producers", std::move(producers)},
          {"taken", save_numbers(marks)},
          {"ids", save_numbers(ids)},
          {"uses", save_numbers(uses)},
          {"collect_iters", save_numbers(iterations)},
          {"weights", save_numbers(weights)},
          {"metas", std::move(metas)},
          {"given", given_.save()}};
}

Result<Buffer> Buffer::load(const BufferPolicy& policy, const json& state) {
  Buffer buffer(policy, TRY(rng_from_json(TRY(value_at(state, "rng")))));
  TRY(buffer.load_counts(state));
  TRY(buffer.load_producers(state));
  TRY(buffer.load_items(state));
  const BufferStats& counts = buffer.counts_;
  buffer.given_ = TRY(LastBatches::load(TRY(array_at(state, "given")), policy, buffer.next_id_,
                                        counts.batches, counts.sampled));
  if (buffer.closed_ && !buffer.given_.empty()) return wrong("given");
  const auto size = static_cast<std::int64_t>(buffer.items_.size());
  if (counts.pushed != size + counts.used_up + counts.stale + counts.replaced + counts.discarded)
    return wrong("counts");
  return buffer;
}

Result<void> Buffer::load_counts(const json& state) {
  closed_ = TRY(flag_at(state, "closed"));
  iteration_ = TRY(integer_at(state, "iteration"));
  if (iteration_ < 0) return wrong("iteration");
  const std::int64_t next_id = TRY(integer_at(state, "next_id"));
  const std::vector<double> counts = TRY(numbers_at(state, "counts"));
  if (counts.size() != std::size(kCounts)) return wrong("counts");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!is_index(counts[i], kMost / 8)) return wrong("counts");  // their sum is exact, too
    counts_.*kCounts[i] = static_cast<std::int64_t>(counts[i]);
  }
  if (counts_.batches > counts_.sampled) return wrong("counts");
  if (next_id < 1 || next_id - 1 > counts_.pushed) return wrong("next_id");
  next_id_ = static_cast<ItemId>(next_id);
  const std::vector<double> largest = TRY(numbers_at(state, "largest"));
  if (largest.size() != 1 || !(largest[0] >= 1 && largest[0] <= kMostPriority))
    return wrong("largest");
  largest_ = largest[0];
  newest_weight_ = weight_of(largest_);
  const std::vector<double> rate = TRY(numbers_at(state, "rate"));
  const auto is_count = [](double x) { return x >= 0 && x <= kMost; };
  if (rate.size() != 2 || !std::ranges::all_of(rate, is_count)) return wrong("rate");
  rate_.restore({rate[0], rate[1]});
  return {};
}

Result<void> Buffer::load_producers(const json& state) {
  const json names = TRY(array_at(state, "producers"));
  const std::vector<double> taken = TRY(numbers_at(state, "taken"));
  if (names.size() != taken.size()) return wrong("producers");
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].is_string() || !is_index(taken[i], kMost) || taken[i] < 1)
      return wrong("producers");
    const auto mark = static_cast<std::int64_t>(taken[i]);
    if (!producers_.emplace(names[i].get<std::string>(), mark).second) return wrong("producers");
  }
  return {};
}

Result<void> Buffer::load_items(const json& state) {
  const std::vector<double> ids = TRY(numbers_at(state, "ids"));
  const std::vector<double> uses = TRY(numbers_at(state, "uses"));
  const std::vector<double> iterations = TRY(numbers_at(state, "collect_iters"));
  const std::vector<double> weights = TRY(numbers_at(state, "weights"));
  const json metas = TRY(array_at(state, "metas"));
  const std::size_t size = ids.size();
  if (size > policy_.capacity || (closed_ && size > 0) || uses.size() != size ||
      iterations.size() != size || weights.size() != size || metas.size() != size)
    return wrong("number of items");
  std::vector<StoredItem> items(size);
  std::set<ItemId> known;
  const double most_uses = std::min(static_cast<double>(policy_.uses()), kMost);
  for (std::size_t i = 0; i < size; ++i) {
    StoredItem& item = items[i];
    if (!is_index(ids[i], static_cast<double>(next_id_)) || ids[i] < 1) return wrong("ids");
    item.id = static_cast<ItemId>(ids[i]);
    if (!known.insert(item.id).second) return wrong("ids");
    if (!is_index(uses[i], most_uses)) return wrong("uses");
    item.uses = static_cast<std::int64_t>(uses[i]);
    uses_ += item.uses;
    if (uses_ > counts_.sampled) return wrong("uses");
    if (!std::isnan(iterations[i])) {
      if (!is_index(iterations[i], kMost + 1)) return wrong("collect_iters");
      item.collect_iter = static_cast<std::int64_t>(iterations[i]);
    }
    if (is_stale(item.collect_iter)) return wrong("collect_iters");
    if (!metas[i].is_string()) return wrong("metas");
    item.meta = metas[i].get<std::string>();
    if (!check_item({item.meta, {}, {}})) return wrong("metas");
    const bool weighs = policy_.kind == BufferKind::prioritised;
    if (weighs ? !(weights[i] > 0 && weights[i] <= kMostPriority) : weights[i] != 0)
      return wrong("weights");
    if (weighs) tree_.set(i, weights[i]);
  }
  items_.restore(std::move(items));
  return {};
}

}  // namespace attune
