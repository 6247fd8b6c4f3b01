#pragma once
// A journal read from its bytes, with the numbers of commands and answers.
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "journal/codec.h"

namespace attune {

// Of headers and snapshots: search spaces may be that wide, whoever asks for it (--max-keys).
inline constexpr JsonLimits kJournalJson{.depth = 300, .keys = 1'000'000};

struct NumberedRecord {
  RecordScanner::Item item;
  std::optional<std::uint64_t> number;  // of a command or answer that has one
};

struct JournalReading {
  std::vector<NumberedRecord> records;                        // into the bytes
  std::uint64_t good = 0;                                     // bytes that they take
  std::uint64_t commands = 0, answers = 0;                    // the last numbers
  std::uint64_t commands_before = 0, answers_before = 0;      // those before the first ones here
  std::uint64_t snapshot_commands = 0, snapshot_answers = 0;  // of them before the snapshot
  std::uint64_t kept = 0;  // answers from before the snapshot that are there
  std::string damage;      // what is wrong at `good`; empty: at most a torn tail
};

// Numbers begin with 1, or with what the snapshot says ("commands", "answers"); and with 1 again
// where the daemon of a manager that begins anew goes on.
JournalReading read_journal(std::string_view bytes);

}  // namespace attune
