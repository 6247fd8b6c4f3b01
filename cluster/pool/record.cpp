#include "cluster/pool/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "base/saved_numbers.h"
#include "cluster/pool/fields.h"

namespace attune {
namespace {

constexpr std::array kEdges = {
    std::pair{Edge::began, "began"},     std::pair{Edge::created, "created"},
    std::pair{Edge::leased, "leased"},   std::pair{Edge::running, "running"},
    std::pair{Edge::closing, "closing"}, std::pair{Edge::requeued, "requeued"},
    std::pair{Edge::ended, "ended"},     std::pair{Edge::gone, "gone"},
    std::pair{Edge::info, "info"},       std::pair{Edge::latched, "latched"},
    std::pair{Edge::named, "named"}};

}  // namespace

std::string encode_record(const Record& record) {
  json object = {
      {"edge",
       std::ranges::find(kEdges, record.edge, &decltype(kEdges)::value_type::first)->second},
      {"at", record.at}};
  if (!record.task.empty()) object["task"] = record.task;
  if (record.spec) object["spec"] = to_json(*record.spec);
  if (!record.worker.empty()) object["worker"] = record.worker;
  if (record.number != 0) object["number"] = record.number;
  if (record.attempt != 0) object["attempt"] = record.attempt;
  if (record.state != TaskState::queued) object["state"] = to_text(record.state);
  if (!record.cause.empty()) object["cause"] = record.cause;
  if (!record.text.empty()) object["text"] = record.text;
  if (record.again) object["again"] = true;
  if (!record.client.empty()) object["client"] = record.client;
  if (!record.key.empty()) object["key"] = record.key;
  return dump_json(object);
}

Result<Record> decode_record(std::string_view text) {
  return record_from_json(TRY(parse_json(text)));
}

Result<Record> record_from_json(const json& object) {
  Record record;
  const std::string edge = TRY(text_at(object, "edge"));
  const auto known = std::ranges::find(kEdges, edge, &decltype(kEdges)::value_type::second);
  if (known == kEdges.end()) return fail(fmt::format("edge: \"{}\" is none", edge));
  record.edge = known->first;
  record.at = TRY(number_at(object, "at"));
  if (object.contains("task")) record.task = TRY(name_at(object, "task"));
  if (object.contains("spec")) record.spec = TRY(parse_task_spec(object["spec"]));
  if (object.contains("worker")) record.worker = TRY(name_at(object, "worker"));
  if (object.contains("number")) {
    const std::int64_t number = TRY(integer_at(object, "number"));
    if (number < 0) return fail("number: it is negative");
    record.number = static_cast<std::uint64_t>(number);
  }
  if (object.contains("attempt")) {
    const std::int64_t attempt = TRY(integer_at(object, "attempt"));
    if (attempt < 0 || attempt > 1'000'000) return fail("attempt: 0 to 1000000 is wanted");
    record.attempt = static_cast<int>(attempt);
  }
  if (object.contains("state")) record.state = TRY(parse_task_state(TRY(text_at(object, "state"))));
  if (object.contains("cause")) record.cause = TRY(text_at(object, "cause"));
  if (object.contains("text")) record.text = TRY(text_at(object, "text"));
  record.again = object.contains("again");
  if (object.contains("client")) record.client = TRY(name_at(object, "client"));
  if (object.contains("key")) record.key = TRY(name_at(object, "key"));
  return record;
}

}  // namespace attune
