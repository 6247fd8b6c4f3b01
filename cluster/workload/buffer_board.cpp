#include "cluster/workload/buffer_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/crc32c.h"
#include "base/saved_numbers.h"
#include "cluster/pool/fields.h"

namespace attune {
namespace {

Result<BufferPolicy> policy_of(const std::string& settings) {
  return parse_buffer_policy(TRY(parse_json(settings)));
}

std::string name_of(const std::string& task, int attempt) {
  return fmt::format("{}/{}", task, attempt);
}

// Independent of the order in which buffers are opened.
Rng rng_of(std::uint64_t seed, const std::string& id) {
  return Rng(seed ^ (std::uint64_t{crc32c(id)} << 32) ^ crc32c(id + id));
}

}  // namespace

BufferBoard::BufferBoard(std::uint64_t seed, BufferOutlets outlets)
    : seed_(seed), outlets_(std::move(outlets)) {}

ServedBuffer* BufferBoard::find(const std::string& id) const {
  const auto found = buffers_.find(id);
  return found == buffers_.end() ? nullptr : found->second.get();
}

Result<void> BufferBoard::check(const TaskSpec& task) const {
  std::set<std::string> own;
  for (const OwnedBuffer& each : task.owns) {
    if (auto policy = policy_of(each.settings); !policy)
      return fail(fmt::format("buffer {}: {}", each.id, policy.error().message));
    const ServedBuffer* there = find(each.id);
    if (there != nullptr && there->owner() != task.id)
      return fail(fmt::format("buffer {}: it is that of task {}", each.id, there->owner()));
    if (!own.insert(each.id).second)
      return fail(fmt::format("buffer {}: it is there twice", each.id));
  }
  return {};
}

// ---- the tasks

void BufferBoard::hear(const Record& record, const Task* task) {
  if (task == nullptr) return;
  if (record.edge == Edge::created) {
    for (const OwnedBuffer& each : task->spec.owns) open(each, task->spec.id);
  } else if (record.edge == Edge::requeued) {
    forget_attempt(*task, task->attempt - 1);
  } else if (record.edge == Edge::ended) {
    // Closes the buffers first: forget_attempt() could let waiting requests go on. Their records
    // would follow this one in the journal, and a replay would not find the buffer.
    for (const OwnedBuffer& each : task->spec.owns) close(each.id, task->spec.id);
    forget_attempt(*task, task->attempt);
  }
}

void BufferBoard::open(const OwnedBuffer& owned, const std::string& owner) {
  // check() has refused a client's task that names another task's buffer, or has wrong settings.
  if (buffers_.contains(owned.id)) return;
  const auto policy = policy_of(owned.settings);
  if (!policy) return;
  buffers_.emplace(
      owned.id, std::make_unique<ServedBuffer>(owned.id, owner, owned.settings,
                                               Buffer(*policy, rng_of(seed_, owned.id)), outlets_));
}

void BufferBoard::close(const std::string& id, const std::string& owner) {
  const auto found = buffers_.find(id);
  if (found == buffers_.end() || found->second->owner() != owner) return;
  found->second->close();
  buffers_.erase(found);
}

// For an attempt that is over: its number is not used again.
void BufferBoard::forget_attempt(const Task& task, int attempt) {
  const std::string who = name_of(task.spec.id, attempt);
  const auto forget = [&](const std::string& id) {
    if (ServedBuffer* buffer = find(id)) buffer->forget(who);
  };
  std::ranges::for_each(task.spec.uses, forget);
  std::ranges::for_each(task.spec.owns, forget, &OwnedBuffer::id);
}

// ---- programs

Result<void> BufferBoard::hear(BufferSession session, const Task& task, const json& message) {
  const std::string id = TRY(name_at(message, "buffer"));
  const auto is = [&](const std::string& other) { return other == id; };
  if (std::ranges::none_of(task.spec.uses, is) &&
      std::ranges::none_of(task.spec.owns, is, &OwnedBuffer::id))
    return fail(fmt::format("buffer: task {} has none of the name {}", task.spec.id, id));
  if (ServedBuffer* buffer = find(id))
    return buffer->hear(session, name_of(task.spec.id, task.attempt), message);
  outlets_.answer(session, {{"type", "closed"}, {"buffer", id}});
  return {};
}

void BufferBoard::gone(BufferSession session) {
  for (const auto& [id, buffer] : buffers_) buffer->gone(session);
}

// ---- a later coordinator

Result<void> BufferBoard::replay(const json& record) {
  const std::string id = TRY(text_at(record, "buffer"));
  if (ServedBuffer* buffer = find(id)) return buffer->replay(record);
  return fail(fmt::format("there is no buffer {}", id));
}

json BufferBoard::status() const {
  json status = json::object();
  for (const auto& [id, buffer] : buffers_) status[id] = buffer->status();
  return status;
}

json BufferBoard::save() const {
  json state = json::object();
  for (const auto& [id, buffer] : buffers_) state[id] = buffer->save();
  return state;
}

Result<void> BufferBoard::load(const json& state) {
  if (!state.is_object()) return fail("an object of buffers is wanted");
  std::map<std::string, std::unique_ptr<ServedBuffer>> buffers;
  for (const auto& [id, each] : state.items()) {
    auto buffer = ServedBuffer::load(id, each, outlets_);
    if (!buffer) return fail(fmt::format("buffer {}: {}", id, buffer.error().message));
    buffers.emplace(id, std::make_unique<ServedBuffer>(*std::move(buffer)));
  }
  buffers_ = std::move(buffers);
  return {};
}

std::unique_ptr<TaskBuffers> make_buffer_board(std::uint64_t seed, BufferOutlets outlets) {
  return std::make_unique<BufferBoard>(seed, std::move(outlets));
}

}  // namespace attune
