#pragma once
// The beginning of a journal that replaces a longer one: header, snapshot, and what is kept of the
// longer one.
#include <memory>
#include <string>

#include "base/json.h"
#include "journal/kept_records.h"
#include "journal/place.h"

namespace attune {

struct SnapshotContent {
  json header, state;
  std::unique_ptr<KeptRecords> kept;  // null: nothing is, and the former journal is not read
};

// `former`: the records that the snapshot stands for. Errors: what the system says, a former
// journal that is damaged, a snapshot that is larger than a record can be.
Result<void> write_snapshot_part(FileSystem& files, const std::string& path,
                                 const SnapshotContent& content, const JournalBytes& former,
                                 Replacement& to);

}  // namespace attune
