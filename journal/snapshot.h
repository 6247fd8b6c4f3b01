#pragma once
// Writes the beginning of a journal that replaces a longer one: the header, the snapshot, and the
// records that are kept of the longer one.
#include <memory>
#include <string>

#include "base/json.h"
#include "journal/kept_records.h"
#include "journal/place.h"

namespace attune {

struct SnapshotContent {
  json header, state;
  std::unique_ptr<KeptRecords> kept;  // null: no record is kept; the old journal is not read
};

// Appends that beginning to `to`. `former` holds the records that the snapshot replaces. `path` is
// for messages. Errors: the system's reason, damage in the old journal, or a snapshot larger than
// kMostRecordBytes. Runs on the helper thread that writes files.
Result<void> write_snapshot_part(FileSystem& files, const std::string& path,
                                 SnapshotContent content, const JournalBytes& former,
                                 Replacement& to);

}  // namespace attune
