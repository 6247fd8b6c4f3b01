#include "cluster/workload/buffer/buffer_record.h"

#include <string>
#include <utility>

#include "base/saved_numbers.h"

namespace attune {
namespace {

std::unexpected<Error> does_not_fit(const std::string& call) {
  return fail("journal of a buffer: a " + call + " that this buffer would not have done");
}

Result<void> replay_push(Buffer& buffer, const json& record) {
  const std::string producer = TRY(text_at(record, "producer"));
  const std::int64_t first = TRY(integer_at(record, "first"));
  const auto items = TRY(parse_buffer_items(TRY(array_at(record, "items"))));
  const Pushed pushed = TRY(buffer.push(producer, first, items));
  if (pushed.answer != BufferAnswer::ok) return does_not_fit("push");
  return {};
}

Result<void> replay_sample(Buffer& buffer, const json& record) {
  const std::int64_t n = TRY(integer_at(record, "n"));
  if (n < 1) return does_not_fit("sample");
  const std::string consumer = TRY(text_at(record, "consumer"));
  const std::int64_t number = TRY(integer_at(record, "number"));
  const BufferAnswer answer = TRY(buffer.give(consumer, number, static_cast<std::size_t>(n)));
  if (answer != BufferAnswer::ok) return does_not_fit("sample");
  return {};
}

Result<void> replay_update(Buffer& buffer, const json& record) {
  std::vector<ItemId> ids;
  for (const double id : TRY(numbers_at(record, "ids"))) {
    if (!is_index(id, static_cast<double>(kMostWhole))) return does_not_fit("update");
    ids.push_back(static_cast<ItemId>(id));
  }
  TRY(buffer.update(ids, TRY(numbers_at(record, "priorities"))));
  return {};
}

}  // namespace

json push_record(std::string_view producer, std::int64_t first, std::span<const BufferItem> taken) {
  return {{"call", "push"}, {"producer", producer}, {"first", first}, {"items", to_json(taken)}};
}

json sample_record(std::string_view consumer, std::int64_t number, std::size_t n) {
  return {{"call", "sample"}, {"consumer", consumer}, {"number", number}, {"n", n}};
}

json update_record(std::span<const ItemId> ids, std::span<const double> priorities) {
  std::vector<double> numbers;
  // Ids from 2^53 on, which a double cannot hold, were never given out, and neither was 0: a replay
  // skips both.
  for (const ItemId id : ids) numbers.push_back(id < kMostWhole ? static_cast<double>(id) : 0);
  return {
      {"call", "update"}, {"ids", save_numbers(numbers)}, {"priorities", save_numbers(priorities)}};
}

json advance_record(std::int64_t iteration) {
  return {{"call", "advance"}, {"iteration", iteration}};
}

Result<void> replay(Buffer& buffer, const json& record) {
  const std::string call = TRY(text_at(record, "call"));
  if (call == "push") return replay_push(buffer, record);
  if (call == "sample") return replay_sample(buffer, record);
  if (call == "update") return replay_update(buffer, record);
  if (call != "advance") return fail("journal of a buffer: \"" + call + "\" is no call");
  buffer.advance(TRY(integer_at(record, "iteration")));
  return {};
}

json to_json(std::span<const BufferItem> items) {
  json all = json::array();
  for (const BufferItem& item : items) {
    json one = {{"meta", item.meta}};
    if (item.priority) one["priority"] = *item.priority;
    if (item.collect_iter) one["collect_iter"] = *item.collect_iter;
    all.push_back(std::move(one));
  }
  return all;
}

Result<std::vector<BufferItem>> parse_buffer_items(const json& items) {
  if (!items.is_array()) return fail("items: an array is wanted");
  std::vector<BufferItem> all;
  all.reserve(items.size());
  for (const json& one : items) {
    BufferItem item;
    item.meta = TRY(text_at(one, "meta"));
    if (one.contains("priority")) item.priority = TRY(number_at(one, "priority"));
    if (one.contains("collect_iter")) item.collect_iter = TRY(integer_at(one, "collect_iter"));
    all.push_back(std::move(item));
  }
  return all;
}

}  // namespace attune
