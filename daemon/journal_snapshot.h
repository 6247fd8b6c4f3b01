#pragma once
// The beginning of a journal that replaces a longer one: header, snapshot, and the answers of the
// longer one that the manager may still ask for.
#include "base/json.h"
#include "daemon/journal_place.h"

namespace attune {

// Without a word from the manager so many bytes of answers are kept, the last ones.
inline constexpr std::size_t kKeptBytes = std::size_t{64} << 20;

struct SnapshotContent {
  json header, state;
  std::uint64_t answers = 0;       // that the former journal and what went before it had numbered
  std::uint64_t acknowledged = 0;  // of them: not to be kept
};

// `former`: the records that the snapshot stands for. Errors: what the system says, a former
// journal that is damaged, a snapshot that is larger than a record can be.
Result<void> write_snapshot_part(FileSystem& files, const std::string& path,
                                 const SnapshotContent& content, const JournalBytes& former,
                                 std::size_t kept_bytes, Replacement& to);

}  // namespace attune
