#include "coordinator/server/buffer_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/saved_numbers.h"
#include "coordinator/buffer/buffer_record.h"

namespace attune {
namespace {

Result<BufferPolicy> policy_of(const std::string& settings) {
  return parse_buffer_policy(TRY(parse_json(settings)));
}

std::string producer_of(const std::string& task, int attempt) {
  return fmt::format("{}/{}", task, attempt);
}

// Independent of the order in which buffers are opened.
Rng rng_of(std::uint64_t seed, const std::string& id) {
  return Rng(seed ^ (std::uint64_t{crc32c(id)} << 32) ^ crc32c(id + id));
}

json closed_message(const std::string& id) { return {{"type", "closed"}, {"buffer", id}}; }

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

struct BufferBoard::Entry {
  struct WaitingPush {
    SessionId session;
    std::string producer;
    std::int64_t first;
    std::vector<BufferItem> items;
  };
  struct WaitingSample {
    SessionId session;
    std::size_t size;
  };
  Entry(std::string name, std::string given, Buffer made)
      : id(std::move(name)), settings(std::move(given)), buffer(std::move(made)) {}

  std::string id, settings;
  Buffer buffer;
  // In the order in which they came; of each session at most one.
  std::vector<WaitingPush> pushes;
  std::vector<WaitingSample> samples;
};

BufferBoard::BufferBoard(std::uint64_t seed, Outlets outlets)
    : seed_(seed), outlets_(std::move(outlets)) {}

BufferBoard::~BufferBoard() = default;

Result<void> BufferBoard::check(const OwnedBuffer& buffer) {
  if (auto policy = policy_of(buffer.settings); !policy)
    return fail(fmt::format("buffer {}: {}", buffer.id, policy.error().message));
  return {};
}

// ---- the tasks

void BufferBoard::hear(const Record& record, const Task* task) {
  if (task == nullptr) return;
  if (record.edge == Edge::created) {
    for (const OwnedBuffer& each : task->spec.owns) open(each);
  } else if (record.edge == Edge::requeued) {
    forget_producer(*task, task->attempt - 1);
  } else if (record.edge == Edge::ended) {
    forget_producer(*task, task->attempt);
    for (const OwnedBuffer& each : task->spec.owns) close(each.id);
  }
}

void BufferBoard::open(const OwnedBuffer& owned) {
  if (buffers_.contains(owned.id)) return;  // of another task that is live
  const auto policy = policy_of(owned.settings);
  if (!policy)
    return;  // of a journal that was tampered with: check() comes before there is such a task
  buffers_.emplace(owned.id, std::make_unique<Entry>(owned.id, owned.settings,
                                                     Buffer(*policy, rng_of(seed_, owned.id))));
}

void BufferBoard::close(const std::string& id) {
  const auto found = buffers_.find(id);
  if (found == buffers_.end()) return;
  for (const auto& each : found->second->pushes) outlets_.answer(each.session, closed_message(id));
  for (const auto& each : found->second->samples) outlets_.answer(each.session, closed_message(id));
  buffers_.erase(found);
}

// Its number will not be used again.
void BufferBoard::forget_producer(const Task& task, int attempt) {
  for (const std::string& id : task.spec.uses) {
    if (const auto found = buffers_.find(id); found != buffers_.end())
      found->second->buffer.forget(producer_of(task.spec.id, attempt));
  }
}

// ---- programs

Result<void> BufferBoard::hear(SessionId session, const Task& task, const json& message) {
  const std::string type = TRY(text_at(message, "type"));
  const std::string id = TRY(text_at(message, "buffer"));
  const auto is = [&](const std::string& other) { return other == id; };
  if (std::ranges::none_of(task.spec.uses, is) &&
      std::ranges::none_of(task.spec.owns, is, &OwnedBuffer::id))
    return fail(fmt::format("buffer: task {} has none of the name {}", task.spec.id, id));
  const auto found = buffers_.find(id);
  if (found == buffers_.end()) {
    outlets_.answer(session, closed_message(id));
    return {};
  }
  Entry& entry = *found->second;
  if (type == "push") {
    TRY(push(entry, session, task, message));
  } else if (type == "sample") {
    TRY(sample(entry, session, message));
  } else if (type == "update") {
    const auto ids = TRY(numbers_of<ItemId>(message, "ids"));
    const auto priorities = TRY(numbers_of<double>(message, "priorities"));
    TRY(entry.buffer.update(ids, priorities));
    json record = update_record(ids, priorities);
    record["buffer"] = id;
    outlets_.append(record);
  } else if (type == "advance") {
    const std::int64_t iteration = TRY(integer_at(message, "iteration"));
    if (iteration < 0) return fail("iteration: 0 or more is wanted");
    entry.buffer.advance(iteration);
    json record = advance_record(iteration);
    record["buffer"] = id;
    outlets_.append(record);
  } else {
    return fail(fmt::format("type: \"{}\" is nothing that the program of a task says", type));
  }
  go_on(entry);
  return {};
}

Result<void> BufferBoard::push(Entry& entry, SessionId session, const Task& task,
                               const json& message) {
  if (std::ranges::find(entry.pushes, session, &Entry::WaitingPush::session) != entry.pushes.end())
    return fail("push: the one before has not been answered");
  const std::int64_t first = TRY(integer_at(message, "seq"));
  std::vector<BufferItem> items = TRY(parse_buffer_items(TRY(array_at(message, "items"))));
  if (first < 1 || items.empty()) return fail("push: items from number 1 on are wanted");
  for (const BufferItem& item : items) TRY(check_item(item));
  entry.pushes.push_back(
      {session, producer_of(task.spec.id, task.attempt), first, std::move(items)});
  return {};
}

Result<void> BufferBoard::sample(Entry& entry, SessionId session, const json& message) {
  if (std::ranges::find(entry.samples, session, &Entry::WaitingSample::session) !=
      entry.samples.end())
    return fail("sample: the one before has not been answered");
  const std::int64_t size = TRY(integer_at(message, "size"));
  const auto most = static_cast<std::int64_t>(entry.buffer.policy().batch);
  if (size < 1 || size > most)
    return fail(
        fmt::format("size: from 1 to {}, the batch of buffer {}, is wanted", most, entry.id));
  entry.samples.push_back({session, static_cast<std::size_t>(size)});
  return {};
}

// As long as one lets another one go on.
void BufferBoard::go_on(Entry& entry) {
  while (push_waiting(entry) || sample_waiting(entry)) continue;
}

bool BufferBoard::push_waiting(Entry& entry) {
  bool any = false;
  for (auto each = entry.pushes.begin(); each != entry.pushes.end();) {
    const auto pushed = entry.buffer.push(each->producer, each->first, each->items);
    ATTUNE_CHECK(pushed.has_value());  // the items were checked
    if (pushed->taken > 0) {
      any = true;
      json record =
          push_record(each->producer, each->first, std::span(each->items).first(pushed->taken));
      record["buffer"] = entry.id;
      outlets_.append(record);
      each->first += static_cast<std::int64_t>(pushed->taken);
      each->items.erase(each->items.begin(),
                        each->items.begin() + static_cast<std::ptrdiff_t>(pushed->taken));
    }
    if (!each->items.empty()) {
      ++each;
      continue;
    }
    outlets_.answer(each->session,
                    {{"type", "pushed"}, {"buffer", entry.id}, {"seq", each->first - 1}});
    each = entry.pushes.erase(each);
  }
  return any;
}

bool BufferBoard::sample_waiting(Entry& entry) {
  bool any = false;
  for (auto each = entry.samples.begin(); each != entry.samples.end();) {
    const auto sampled = entry.buffer.sample(each->size);
    ATTUNE_CHECK(sampled.has_value());  // the size was checked
    if (sampled->answer != BufferAnswer::ok) {
      ++each;
      continue;
    }
    any = true;
    json record = sample_record(each->size);
    record["buffer"] = entry.id;
    outlets_.append(record);
    json items = json::array();
    for (const Drawn& item : sampled->items)
      items.push_back({{"id", item.id}, {"meta", item.meta}, {"weight", item.weight}});
    outlets_.answer(each->session,
                    {{"type", "batch"}, {"buffer", entry.id}, {"items", std::move(items)}});
    each = entry.samples.erase(each);
  }
  return any;
}

void BufferBoard::gone(SessionId session) {
  for (const auto& [id, entry] : buffers_) {
    std::erase_if(entry->pushes, [&](const auto& each) { return each.session == session; });
    std::erase_if(entry->samples, [&](const auto& each) { return each.session == session; });
  }
}

// ---- a later coordinator

Result<void> BufferBoard::replay(const json& record) {
  const std::string id = TRY(text_at(record, "buffer"));
  const auto found = buffers_.find(id);
  if (found == buffers_.end()) return fail(fmt::format("there is no buffer {}", id));
  return attune::replay(found->second->buffer, record);
}

json BufferBoard::status() const {
  json status = json::object();
  for (const auto& [id, entry] : buffers_) {
    status[id] = to_json(entry->buffer.stats());
    status[id]["waiting_pushes"] = entry->pushes.size();
    status[id]["waiting_samples"] = entry->samples.size();
  }
  return status;
}

json BufferBoard::save() const {
  json state = json::object();
  for (const auto& [id, entry] : buffers_)
    state[id] = {{"settings", entry->settings}, {"state", entry->buffer.save()}};
  return state;
}

Result<void> BufferBoard::load(const json& state) {
  if (!state.is_object()) return fail("an object of buffers is wanted");
  std::map<std::string, std::unique_ptr<Entry>> buffers;
  for (const auto& [id, each] : state.items()) {
    const std::string settings = TRY(text_at(each, "settings"));
    const BufferPolicy policy = TRY(policy_of(settings));
    auto buffer = Buffer::load(policy, TRY(object_at(each, "state")));
    if (!buffer) return fail(fmt::format("buffer {}: {}", id, buffer.error().message));
    buffers.emplace(id, std::make_unique<Entry>(id, settings, *std::move(buffer)));
  }
  buffers_ = std::move(buffers);
  return {};
}

}  // namespace attune
