#pragma once
// Reads a journal from its bytes, and numbers its commands and answers. For `attuned journal`.
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "journal/codec.h"

namespace attune {

// Limits for headers and snapshots. The keys are the most that --max-keys allows a search space.
inline constexpr JsonLimits kJournalJson{.depth = 300, .keys = 1'000'000};

struct NumberedRecord {
  RecordScanner::Item item;
  std::optional<std::uint64_t> number;  // of a command or answer that has one
};

struct JournalReading {
  std::vector<NumberedRecord> records;                        // refer to the bytes
  std::uint64_t good = 0;                                     // bytes that they take
  std::uint64_t commands = 0, answers = 0;                    // the last numbers
  std::uint64_t commands_before = 0, answers_before = 0;      // the numbers before the first ones
  std::uint64_t snapshot_commands = 0, snapshot_answers = 0;  // the last numbers at the snapshot
  std::uint64_t kept = 0;  // answers from before the snapshot that are there
  std::string damage;      // what is wrong at `good`; empty: at most a torn tail
};

// Numbers begin with 1, or continue from the counts in the snapshot ("commands", "answers"). They
// begin with 1 again where a record `begin` says that the manager started anew.
JournalReading read_journal(std::string_view bytes);

}  // namespace attune
