#pragma once
// What of a journal outlives it when a shorter one, that begins with a snapshot, takes its place.
// Whoever writes the journal knows; the file does not.
#include <optional>
#include <string_view>

#include "journal/journal.h"

namespace attune {

// Made for one snapshot, and used by the helper thread that writes it: first each add(), then
// take() until there is nothing. It is destroyed there, too, or by the io thread when no snapshot
// is written; it must not use what belongs to the io thread.
class KeptRecords {
 public:
  virtual ~KeptRecords() = default;
  // Each record of the former journal that the snapshot stands for, from the header on. The payload
  // is valid during the call.
  virtual void add(RecordKind kind, std::string_view payload) = 0;
  // The next of the records that stand right behind the snapshot, neither header nor snapshot.
  virtual std::optional<JournalRecord> take() = 0;
};

}  // namespace attune
