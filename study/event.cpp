#include "study/event.h"

#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace attune {
namespace {

// In the order of Event::Kind. The first key of a line says the kind.
constexpr std::array<std::string_view, 9> kKinds = {
    "ask", "report", "tell", "fail", "stop", "enqueue", "import", "declare", "suggest"};

constexpr std::int64_t kMost = std::int64_t{1} << 53;

std::string key_of(Event::Kind kind) { return std::string(kKinds[static_cast<std::size_t>(kind)]); }

Result<std::int64_t> integer(const json& line, std::string_view key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number_integer() || *found < 0 || *found > kMost) {
    return fail("\"" + std::string(key) + "\" must be an integer from 0 to 2^53");
  }
  return found->get<std::int64_t>();
}

Result<json> member(const json& line, std::string_view key) {
  const auto found = line.find(key);
  if (found == line.end()) return fail("\"" + std::string(key) + "\" is missing");
  return *found;
}

Result<void> read_list(const json& list, std::string_view first, std::string_view second) {
  if (!list.is_array()) return fail("a list expected");
  for (const json& one : list) {
    if (!one.is_object() || !one.contains(first) || !one.contains(second)) {
      return fail("\"" + std::string(first) + "\" and \"" + std::string(second) +
                  "\" expected in each element");
    }
  }
  return {};
}

// The deepest place of a value: {"ask":1,"trials":[{"parameters": here.
constexpr int kDeepest = static_cast<int>(JsonLimits{}.depth) - 3;

Result<void> check_nested(const json& value, int levels) {
  if (!value.is_structured()) return {};
  if (levels == 0) return fail("nested deeper than " + std::to_string(kDeepest));
  if (value.is_object() && value.size() > JsonLimits{}.keys) {
    return fail("an object with more than " + std::to_string(JsonLimits{}.keys) + " keys");
  }
  for (const json& one : value) TRY(check_nested(one, levels - 1));
  return {};
}

}  // namespace

json to_json(const Event& event) {
  json line;
  const std::string key = key_of(event.kind);
  switch (event.kind) {
    case Event::Kind::ask:
      line[key] = event.count;
      line["trials"] = event.body;
      break;
    case Event::Kind::report:
      line[key] = event.trial;
      line["step"] = event.step;
      line["value"] = event.body;
      if (event.stop) line["stop"] = true;
      break;
    case Event::Kind::tell:
      line[key] = event.trial;
      line["value"] = event.body;
      break;
    case Event::Kind::fail:
      line[key] = event.trial;
      line["reason"] = event.body;
      break;
    case Event::Kind::stop:
      line[key] = event.trial;
      break;
    case Event::Kind::enqueue:
    case Event::Kind::import:
    case Event::Kind::declare:
      line[key] = event.body;
      break;
    case Event::Kind::suggest:
      line[key] = event.trial;
      line["value"] = event.body;
      break;
  }
  if (event.slot >= 0) line["slot"] = event.slot;
  return line;
}

Result<Event> event_from_json(const json& line) {
  if (!line.is_object() || line.empty()) return fail("a record must be an object");
  Event event;
  const std::string& key = line.begin().key();
  std::size_t kind = 0;
  while (kind < kKinds.size() && kKinds[kind] != key) ++kind;
  if (kind == kKinds.size()) return fail("unknown record \"" + key + "\"");
  event.kind = static_cast<Event::Kind>(kind);
  if (line.contains("slot")) event.slot = static_cast<int>(TRY(integer(line, "slot")));
  switch (event.kind) {
    case Event::Kind::ask:
      event.count = TRY(integer(line, key));
      event.body = TRY(member(line, "trials"));
      TRY(read_list(event.body, "id", "parameters"));
      for (const json& trial : event.body) TRY(integer(trial, "id"));
      return event;
    case Event::Kind::report:
      event.step = TRY(integer(line, "step"));
      event.stop = line.value("stop", json(false)) == true;
      event.body = TRY(member(line, "value"));
      break;
    case Event::Kind::tell:
      event.body = TRY(member(line, "value"));
      break;
    case Event::Kind::fail:
      event.body = TRY(member(line, "reason"));
      if (!event.body.is_string()) return fail("\"reason\" must be a text");
      break;
    case Event::Kind::stop:
      break;
    case Event::Kind::enqueue:
    case Event::Kind::declare:
      event.body = line.begin().value();
      return event;
    case Event::Kind::suggest:
      event.body = TRY(member(line, "value"));
      if (!event.body.is_object() || event.body.size() != 1) {
        return fail("\"value\" must be an object with one member");
      }
      break;
    case Event::Kind::import:
      event.body = line.begin().value();
      TRY(read_list(event.body, "parameters", "value"));
      return event;
  }
  event.trial = TRY(integer(line, key));
  return event;
}

json storable(const json& value) {
  const auto stored = [](const json& x) {
    return x.is_number_float() && !std::isfinite(x.get<double>()) ? json(nullptr) : x;
  };
  if (!value.is_object()) return stored(value);
  json kept = json::object();
  auto& members = kept.get_ref<json::object_t&>();  // no search: the names differ
  for (const auto& [name, x] : value.items()) {
    if (x.is_number() || x.is_boolean()) members.emplace_back(name, stored(x));
  }
  return kept;
}

json readable(json stored) {
  constexpr double kNotFinite = std::numeric_limits<double>::quiet_NaN();
  if (stored.is_null()) return kNotFinite;
  if (!stored.is_object()) return stored;
  for (auto& [name, x] : stored.items()) {
    if (x.is_null()) x = kNotFinite;
  }
  return stored;
}

Result<void> check_readable(const json& value) { return check_nested(value, kDeepest); }

}  // namespace attune
