#pragma once
// Journal records <-> bytes.
//
//   length  4 bytes, little endian: of the payload
//   kind    1 byte: RecordKind
//   check   4 bytes: CRC-32C of length and kind
//   sum     4 bytes: CRC-32C of the payload
//   payload
//
// The head has a checksum of its own. So a damaged length is not mistaken for a record that was cut
// off, and a reader knows where a record with a damaged payload ends.
//
// Pure functions without I/O, safe on any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/journal.h"

namespace attune {

inline constexpr std::size_t kRecordHead = 13;  // bytes
// Larger than any frame (--max-payload), because the snapshot of a long experiment must fit, too.
inline constexpr std::size_t kMostRecordBytes = std::size_t{1} << 30;

// Appends one record to `out`. The payload must have at most kMostRecordBytes (checked).
void encode_record(RecordKind kind, std::string_view payload, std::string& out);
// The record without its payload, for one that is too large to be copied.
void encode_head(RecordKind kind, std::string_view payload, std::string& out);

struct RecordHead {
  std::uint8_t kind = 0;     // may be unknown: see is_known()
  std::uint32_t length = 0;  // of the payload
  std::uint32_t sum = 0;

  std::size_t record_size() const { return kRecordHead + length; }
};
// Reads the head at the start of `bytes`. Nothing: they are too short, the checksum differs, or the
// length is above kMostRecordBytes.
std::optional<RecordHead> read_head(std::string_view bytes);
bool is_known(std::uint8_t kind);
std::string_view kind_name(RecordKind kind);  // as in docs/journal.md; empty if unknown
// Offset of the first whole, valid record of a known kind at `from` or later; nothing: there is
// none. The record may lie inside the payload of a damaged one.
//
// The work is bounded. A crafted file could hold many good heads with wrong payload sums, and each
// would cost a checksum over the rest. After checksums over eight times the size of `bytes`, the
// offset of the next good head is returned without a check of its payload.
std::optional<std::size_t> find_record(std::string_view bytes, std::size_t from);

// Reads the records of a journal file in order. `bytes` must outlive the scanner and its items.
class RecordScanner {
 public:
  explicit RecordScanner(std::string_view bytes) : bytes_(bytes) {}

  struct Item {
    RecordKind kind;
    std::string_view payload;  // points into the scanned bytes
    std::uint64_t offset;      // where the record begins in them
  };
  // The next record, or nothing at the end.
  //
  // The end may be a torn tail: bytes that are no whole record, with no valid record behind them.
  // Then end_of_good() is less than the size. If the head of the torn record is good, it says where
  // the record ends, and bytes inside it do not count as "behind".
  //
  // An error names the byte and the damage: an invalid record with valid records behind it, an
  // unknown kind, a first record that is no header, a second header, or a snapshot that is not the
  // second record. After an error every call returns the same error.
  Result<std::optional<Item>> next();
  std::uint64_t end_of_good() const { return good_; }  // end of the last valid record

 private:
  std::unexpected<Error> broken(const std::string& what);

  std::string_view bytes_;
  std::uint64_t good_ = 0;
  std::uint64_t records_ = 0;
  std::string error_;
};

}  // namespace attune
