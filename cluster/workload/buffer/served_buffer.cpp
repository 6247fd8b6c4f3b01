#include "cluster/workload/buffer/served_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "cluster/workload/buffer/buffer_record.h"

namespace attune {
namespace {

template <class Number>
Result<std::vector<Number>> numbers_of(const json& message, std::string_view key) {
  std::vector<Number> numbers;
  for (const json& each : TRY(array_at(message, key))) {
    if (std::is_integral_v<Number> && !each.is_number_unsigned())
      return fail(fmt::format("{}: whole numbers are wanted in it", key));
    if (!each.is_number()) return fail(fmt::format("{}: numbers are wanted in it", key));
    numbers.push_back(each.get<Number>());
  }
  return numbers;
}

}  // namespace

ServedBuffer::ServedBuffer(std::string id, std::string owner, std::string settings, Buffer buffer,
                           const BufferOutlets& outlets)
    : id_(std::move(id)),
      owner_(std::move(owner)),
      settings_(std::move(settings)),
      buffer_(std::move(buffer)),
      outlets_(&outlets) {}

void ServedBuffer::append(json record) const {
  record["buffer"] = id_;
  outlets_->append(record);
}

// ---- what programs say

Result<void> ServedBuffer::hear(BufferSession session, const std::string& who,
                                const json& message) {
  const std::string type = TRY(text_at(message, "type"));
  if (type == "push") return push(session, who, message);
  if (type == "sample") return sample(session, who, message);
  if (type == "update") return update(message);
  if (type == "advance") return advance(message);
  return fail(fmt::format("type: \"{}\" is nothing that the program of a task says", type));
}

Result<void> ServedBuffer::push(BufferSession session, const std::string& who,
                                const json& message) {
  const auto before = std::ranges::find(pushes_, who, &WaitingPush::who);
  if (before != pushes_.end() && before->session == session)
    return fail("push: the one before has not been answered");
  const std::int64_t first = TRY(integer_at(message, "seq"));
  std::vector<BufferItem> items = TRY(parse_buffer_items(TRY(array_at(message, "items"))));
  if (items.empty()) return fail("push: items are wanted");
  if (const auto good = check_push(first, items); !good)
    return fail("push: " + good.error().message);
  // The producer has a new connection before the end of its former one was noticed.
  if (before != pushes_.end()) pushes_.erase(before);
  pushes_.push_back({session, who, first, std::move(items)});
  const bool any = go_on(pushes_.back());
  if (pushes_.back().taken == pushes_.back().items.size()) pushes_.pop_back();
  if (any) pushed();
  return {};
}

Result<void> ServedBuffer::sample(BufferSession session, const std::string& who,
                                  const json& message) {
  const std::int64_t number = TRY(integer_at(message, "seq"));
  const std::int64_t size = TRY(integer_at(message, "size"));
  const std::int64_t from = message.contains("from") ? TRY(integer_at(message, "from")) : 0;
  const auto most = static_cast<std::int64_t>(buffer_.policy().batch);
  if (size < 1 || size > most)
    return fail(fmt::format("size: from 1 to {}, the batch of buffer {}, is wanted", most, id_));
  if (from < 0 || from >= size) return fail("from: the number of an item of the batch is wanted");
  const auto before = std::ranges::find(samples_, who, &WaitingSample::who);
  if (before != samples_.end()) {
    const bool same = before->number == number && std::cmp_equal(before->size, size);
    if (before->session == session || !same)
      return fail("sample: the one before has not been answered");
    before->session = session;  // the same request on a new connection
    return {};
  }
  const GivenBatch* last = buffer_.given(who);
  if (last != nullptr && last->number == number) {
    if (std::cmp_not_equal(last->items.size(), size))
      return fail(fmt::format("size: batch {} has {} items", number, last->items.size()));
    answer_batch(session, *last, static_cast<std::size_t>(from));
    return {};
  }
  const std::int64_t next = last == nullptr ? 1 : last->number + 1;
  if (number < next || number > kMostWhole)
    return fail(fmt::format("seq: the next batch has the number {}, not {}", next, number));
  if (from > 0) return fail("from: nothing of this batch was given yet");
  samples_.push_back({session, who, number, static_cast<std::size_t>(size)});
  pushed();
  return {};
}

// After an update no request can go on: it changes which items are drawn, not how many there are.
Result<void> ServedBuffer::update(const json& message) {
  const auto ids = TRY(numbers_of<ItemId>(message, "ids"));
  const auto priorities = TRY(numbers_of<double>(message, "priorities"));
  if (TRY(buffer_.update(ids, priorities)) > 0) append(update_record(ids, priorities));
  return {};
}

Result<void> ServedBuffer::advance(const json& message) {
  const std::int64_t iteration = TRY(integer_at(message, "iteration"));
  if (iteration < 0) return fail("iteration: 0 or more is wanted");
  const std::int64_t before = buffer_.iteration();
  buffer_.advance(iteration);
  if (buffer_.iteration() == before) return {};
  append(advance_record(iteration));
  has_room();
  return {};
}

// ---- who waits

// Takes what can be taken of a waiting push. Returns whether that is anything.
bool ServedBuffer::go_on(WaitingPush& push) {
  const auto rest = std::span(push.items).subspan(push.taken);
  const std::int64_t first = push.first + static_cast<std::int64_t>(push.taken);
  const std::size_t taken = buffer_.take(push.who, first, rest).taken;
  if (taken > 0) append(push_record(push.who, first, rest.first(taken)));
  push.taken += taken;
  if (push.taken == push.items.size()) {
    const std::int64_t last = first + static_cast<std::int64_t>(taken) - 1;
    outlets_->answer(push.session, {{"type", "pushed"}, {"buffer", id_}, {"seq", last}});
  }
  return taken > 0;
}

bool ServedBuffer::push_waiting() {
  bool any = false;
  for (auto each = pushes_.begin(); each != pushes_.end();) {
    any = go_on(*each) || any;
    const bool all = each->taken == each->items.size();
    // What stops one push stops all others, too. Only stale items need no room, so with
    // max_staleness the others are tried.
    if (!all && !buffer_.policy().max_staleness) break;
    each = all ? pushes_.erase(each) : std::next(each);
  }
  return any;
}

// No sample overtakes the first one: small samples need fewer items, and would take them away from
// it.
bool ServedBuffer::sample_waiting() {
  bool any = false;
  while (!samples_.empty()) {
    const WaitingSample& first = samples_.front();
    const auto answer = buffer_.give(first.who, first.number, first.size);
    ATTUNE_CHECK(answer.has_value());  // sample() checked it; `who` has no other request
    if (*answer != BufferAnswer::ok) break;
    any = true;
    append(sample_record(first.who, first.number, first.size));
    answer_batch(first.session, *buffer_.given(first.who), 0);
    samples_.pop_front();
  }
  return any;
}

// Items have come (pushed), or room has (has_room): serves samples and pushes in turn, until
// neither lets the other one go on.
void ServedBuffer::pushed() {
  while (sample_waiting() && push_waiting()) continue;
}
void ServedBuffer::has_room() {
  while (push_waiting() && sample_waiting()) continue;
}

void ServedBuffer::answer_batch(BufferSession session, const GivenBatch& batch,
                                std::size_t from) const {
  json items = json::array();
  std::size_t bytes = 0;
  for (std::size_t i = from; i < batch.items.size(); ++i) {
    if (items.size() == kMostPartItems || bytes >= kMostPartBytes) break;
    const Drawn& item = batch.items[i];
    bytes += item.meta.size();
    items.push_back({{"id", item.id}, {"meta", item.meta}, {"weight", item.weight}});
  }
  outlets_->answer(session, {{"type", "batch"},
                             {"buffer", id_},
                             {"seq", batch.number},
                             {"from", from},
                             {"items", std::move(items)}});
}

void ServedBuffer::gone(BufferSession session) {
  std::erase_if(pushes_, [&](const auto& each) { return each.session == session; });
  if (std::erase_if(samples_, [&](const auto& each) { return each.session == session; }) > 0)
    pushed();  // the next sample may want fewer items
}

void ServedBuffer::forget(const std::string& who) {
  buffer_.forget(who);
  std::erase_if(pushes_, [&](const auto& each) { return each.who == who; });
  if (std::erase_if(samples_, [&](const auto& each) { return each.who == who; }) > 0) pushed();
}

void ServedBuffer::close() {
  const json closed = {{"type", "closed"}, {"buffer", id_}};
  for (const auto& each : pushes_) outlets_->answer(each.session, closed);
  for (const auto& each : samples_) outlets_->answer(each.session, closed);
}

// ---- a later coordinator

Result<void> ServedBuffer::replay(const json& record) { return attune::replay(buffer_, record); }

json ServedBuffer::status() const {
  json status = to_json(buffer_.stats());
  status["waiting_pushes"] = pushes_.size();
  status["waiting_samples"] = samples_.size();
  return status;
}

json ServedBuffer::save() const {
  return {{"owner", owner_}, {"settings", settings_}, {"state", buffer_.save()}};
}

Result<ServedBuffer> ServedBuffer::load(const std::string& id, const json& state,
                                        const BufferOutlets& outlets) {
  std::string owner = TRY(text_at(state, "owner"));
  std::string settings = TRY(text_at(state, "settings"));
  const BufferPolicy policy = TRY(parse_buffer_policy(TRY(parse_json(settings))));
  Buffer buffer = TRY(Buffer::load(policy, TRY(object_at(state, "state"))));
  return ServedBuffer(id, std::move(owner), std::move(settings), std::move(buffer), outlets);
}

}  // namespace attune
