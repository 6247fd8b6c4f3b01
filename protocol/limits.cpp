#include "protocol/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attune {
namespace {

constexpr std::size_t kAnyBytes = std::size_t{1} << 40;
constexpr std::size_t kMostPayload =
    (std::size_t{1} << 30) - 2;  // a record of the journal has 2 more
constexpr std::size_t kAnyCount = 1'000'000'000;

// A depth beyond 1000 would cost the stack, as JSON is written recursively.
constexpr std::array<LimitEntry, 14> kEntries{{
    {"payload", &Limits::payload, 1024, kMostPayload, "Largest payload of a command, in bytes"},
    {"queue", &Limits::queue, 4096, kAnyBytes,
     "Bytes that may wait in each queue before the manager has to wait"},
    {"depth", &Limits::depth, 8, 1000, "Levels of JSON in a command"},
    {"keys", &Limits::keys, 16, 1'000'000, "Keys of one JSON object in a command"},
    {"string", &Limits::string, 1024, kAnyBytes, "Bytes of one JSON string in a command"},
    {"array", &Limits::elements, 16, kAnyCount, "Elements of one JSON array in a command"},
    {"values", &Limits::values, 64, kAnyCount, "JSON values in a command"},
    {"id", &Limits::id, 16, std::size_t{1} << 20, "Bytes of the id of a job or a checkpoint"},
    {"request", &Limits::request, 1, kAnyCount, "Trials of one request"},
    {"outstanding", &Limits::outstanding, 1, kAnyCount,
     "Trials that were asked for or added and have not ended"},
    {"history", &Limits::history, 1, kAnyCount, "Intermediate results kept of one trial"},
    {"histories", &Limits::histories, 4096, kAnyBytes,
     "Bytes of the intermediate results of all trials that have not ended"},
    {"jobs", &Limits::jobs, 1, kAnyCount, "Jobs known beside one for each trial of ours"},
    {"imports", &Limits::imports, 1, kAnyCount, "Results imported"},
}};

std::string key_of(const LimitEntry& entry) { return std::string("max_") + entry.name; }

}  // namespace

std::span<const LimitEntry> limit_entries() { return kEntries; }

json to_json(const Limits& limits) {
  json object = json::object();
  for (const LimitEntry& entry : kEntries) object[key_of(entry)] = limits.*entry.value;
  return object;
}

Result<Limits> limits_from_json(const json& value) {
  if (!value.is_object()) return fail("limits: an object expected");
  Limits limits;
  for (const LimitEntry& entry : kEntries) {
    const auto found = value.find(key_of(entry));
    if (found == value.end()) continue;
    const bool possible =
        found->is_number_integer() && *found >= entry.least && *found <= entry.most;
    if (!possible) {
      return fail(fmt::format("{}: a number from {} to {} expected", key_of(entry), entry.least,
                              entry.most));
    }
    limits.*entry.value = found->get<std::size_t>();
  }
  return limits;
}

}  // namespace attune
