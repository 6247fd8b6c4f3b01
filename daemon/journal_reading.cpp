#include "daemon/journal_reading.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "dispatcher/journal_numbers.h"
#include "dispatcher/replay.h"

namespace attune {
namespace {

std::uint64_t count_in(std::string_view snapshot, const char* member) {
  const auto state = parse_json(snapshot, kJournalJson);
  if (!state || !state->is_object()) return 0;
  const json count = state->value(member, json());
  return count.is_number_unsigned() ? count.get<std::uint64_t>() : 0;
}

bool begins_anew(std::string_view payload) {
  const auto begin = decode_begin(payload);
  return begin && (begin->how == BeginHow::restart || begin->how == BeginHow::late_restart);
}

// The last kept answer has the snapshot's count of answers as its number.
void number_kept(std::uint64_t last, JournalReading& reading) {
  std::uint64_t number = last - std::min(last, reading.kept);
  for (auto& record : reading.records) {
    if (record.item.kind == RecordKind::kept) record.number = ++number;
  }
}

}  // namespace

JournalReading read_journal(std::string_view bytes) {
  JournalReading reading;
  RecordScanner scanner(bytes);
  while (true) {
    const auto next = scanner.next();
    if (!next) reading.damage = next.error().message;
    if (!next || !*next) break;
    NumberedRecord record{**next, {}};
    const auto& [kind, payload, offset] = record.item;
    if (kind == RecordKind::edge) {
      reading.damage = fmt::format("byte {}: a record \"edge\", which is none of attuned", offset);
      break;
    }
    if (kind == RecordKind::snapshot) {
      reading.commands = reading.snapshot_commands = count_in(payload, "commands");
      reading.answers = reading.snapshot_answers = count_in(payload, "answers");
      reading.commands_before = reading.commands;
      reading.answers_before = reading.answers;
    } else if (kind == RecordKind::begin && begins_anew(payload)) {
      reading.commands = reading.answers = reading.commands_before = reading.answers_before = 0;
    } else if (kind == RecordKind::kept) {
      ++reading.kept;
    } else if (is_numbered(kind, payload)) {
      auto& count = kind == RecordKind::command ? reading.commands : reading.answers;
      record.number = ++count;
    }
    reading.records.push_back(record);
    reading.good = scanner.end_of_good();
  }
  number_kept(reading.snapshot_answers, reading);
  return reading;
}

}  // namespace attune
