#pragma once
// Chooses the records of an old journal that are copied behind the snapshot of the new, shorter
// one (for attuned: answers that the manager may still ask for). The program that writes the
// journal implements it, because JournalFile does not know what records mean.
#include <optional>
#include <string_view>

#include "journal/journal.h"

namespace attune {

// One object serves one snapshot. The helper thread that writes the snapshot calls add() for every
// record, then take() until it returns nothing, and destroys the object. If no snapshot is written,
// the io thread destroys it. So the object must not touch data of the io thread.
class KeptRecords {
 public:
  virtual ~KeptRecords() = default;
  // Sees each record of the old journal that the snapshot replaces, in order, header included.
  // `payload` is valid during the call only.
  virtual void add(RecordKind kind, std::string_view payload) = 0;
  // Returns the next record to write behind the snapshot, or nothing at the end. Never a header or
  // a snapshot.
  virtual std::optional<JournalRecord> take() = 0;
};

}  // namespace attune
