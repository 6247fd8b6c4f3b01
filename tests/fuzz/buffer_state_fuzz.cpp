// Any policy and any saved state of a buffer, {"policy": ..., "state": ...}, and calls from a
// journal: an error, or a buffer that goes on, as another one does that is loaded from its state.
#include "cluster/workload/buffer/buffer.h"
#include "cluster/workload/buffer/buffer_record.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

namespace {

// What a consumer and two producers do; the answers as text.
std::string go_on(Buffer& buffer) {
  std::string heard;
  const BufferItem item{"x", 0.5, {}};
  const std::size_t batch = std::min<std::size_t>(buffer.policy().batch, 3);
  for (int i = 0; i < 4; ++i) {
    for (const char* name : {"a", "b"}) {
      const auto pushed = buffer.push(name, buffer.taken_of(name) + 1, {&item, 1});
      heard += pushed ? std::to_string(static_cast<int>(pushed->answer)) : pushed.error().message;
    }
    const GivenBatch* last = buffer.given("c");
    const auto answer = buffer.give("c", last == nullptr ? 1 : last->number + 1, batch);
    if (!answer) break;  // there are no larger numbers
    last = buffer.given("c");
    std::vector<ItemId> ids;
    for (const Drawn& drawn : last == nullptr ? std::vector<Drawn>() : last->items) {
      ATTUNE_CHECK(drawn.weight > 0 && drawn.weight <= 1);
      heard += std::to_string(drawn.id) + " " + dump_json(json(drawn.weight)) + drawn.meta;
      ids.push_back(drawn.id);
    }
    ATTUNE_CHECK(buffer.update(ids, std::vector<double>(ids.size(), i + 0.5)).has_value());
    heard += std::to_string(buffer.advance(i));
  }
  return heard + dump_json(to_json(buffer.stats()));
}

}  // namespace

FUZZ_TARGET(input) {
  const auto object = parse_json(input);
  if (!object || !object->is_object() || !object->contains("policy")) return;
  const auto policy = parse_buffer_policy((*object)["policy"]);
  if (!policy || policy->capacity > 1000 || policy->batch > 1000) return;  // as large as is quick
  auto buffer = Buffer::load(*policy, object->value("state", json()));
  if (!buffer) return;
  const std::string given = dump_json(buffer->save());
  for (const json& call : object->value("calls", json::array())) {
    if (!replay(*buffer, call)) break;  // no coordinator goes on from such a journal
  }
  const std::string saved = dump_json(buffer->save());
  auto copy = Buffer::load(*policy, parse_json(saved).value());
  ATTUNE_CHECK(copy.has_value());
  ATTUNE_CHECK(dump_json(copy->save()) == saved);
  ATTUNE_CHECK(go_on(*buffer) == go_on(*copy));
  ATTUNE_CHECK(dump_json(buffer->save()) == dump_json(copy->save()));
}
