#include "journal/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/crc32c.h"
#include "journal/codec.h"

namespace attune {
namespace {

constexpr std::size_t kWindow = 1 << 20;  // bytes

// Calls `each` with kind and payload of every record. Reads the file in pieces of kWindow (more for
// a larger record), so that a long journal never is in memory as a whole.
template <class Each>
Result<void> for_each_record(FileSystem& files, const std::string& path, const JournalBytes& from,
                             Each each) {
  std::string window;
  std::uint64_t read = from.from;  // up to here of the file
  bool all = false;
  for (std::size_t at = 0;;) {
    const std::string_view rest = std::string_view(window).substr(at);
    const auto head = read_head(rest);
    const bool whole = head && head->record_size() <= rest.size();
    const auto payload = whole ? rest.substr(kRecordHead, head->length) : std::string_view();
    if (whole && crc32c(payload) == head->sum) {
      each(static_cast<RecordKind>(head->kind), payload);
      at += head->record_size();
      continue;
    }
    if (all && rest.empty()) return {};
    if (all || whole || (!head && rest.size() >= kRecordHead)) {
      return fail(fmt::format("{}: damaged at byte {}", path,
                              read + (all ? from.memory.size() : 0) - rest.size()));
    }
    window.erase(0, at);
    at = 0;
    const std::size_t more = std::max(kWindow, head ? head->record_size() : 0);
    const std::string piece =
        TRY(read_range(files, from.file->get(), path, read, std::min(read + more, from.to)));
    read += piece.size();
    window += piece;
    if (read == from.to || piece.empty()) {
      window += from.memory;
      all = true;
    }
  }
}

// A state may have 100 MB, so it is held only once at a time: as JSON or as text.
Result<void> write_record(const std::string& path, RecordKind kind, json value, Replacement& to) {
  const std::string text = dump_json(std::exchange(value, {}));
  if (text.size() > kMostRecordBytes) {
    return fail(
        fmt::format("{}: a snapshot of {} bytes, more than a record can have", path, text.size()));
  }
  std::string head;
  encode_head(kind, text, head);
  TRY(to.append(head));
  return to.append(text);
}

}  // namespace

Result<void> write_snapshot_part(FileSystem& files, const std::string& path,
                                 SnapshotContent content, const JournalBytes& former,
                                 Replacement& to) {
  TRY(write_record(path, RecordKind::header, content.header, to));
  TRY(write_record(path, RecordKind::snapshot, std::move(content.state), to));
  if (!content.kept) return {};

  std::string bytes;
  TRY(for_each_record(files, path, former, [&](RecordKind kind, std::string_view payload) {
    content.kept->add(kind, payload);
  }));
  while (const auto record = content.kept->take()) {
    encode_record(record->kind, record->payload, bytes);
    if (bytes.size() < kWindow) continue;
    TRY(to.append(bytes));
    bytes.clear();
  }
  return to.append(bytes);
}

}  // namespace attune
