#pragma once
// Journal records <-> bytes.
//
//   length  4 bytes, little endian: of the payload
//   kind    1 byte: RecordKind
//   check   4 bytes: CRC-32C of length and kind
//   sum     4 bytes: CRC-32C of the payload
//   payload
//
// The head has a check of its own: a damaged length is told from a tail that was never written.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/journal.h"

namespace attune {

inline constexpr std::size_t kRecordHead = 13;
// Larger than any frame: the snapshot of a long experiment.
inline constexpr std::size_t kMostRecordBytes = std::size_t{1} << 30;

// The payload has at most kMostRecordBytes.
void encode_record(RecordKind kind, std::string_view payload, std::string& out);

struct RecordHead {
  std::uint8_t kind = 0;     // perhaps none that we know
  std::uint32_t length = 0;  // of the payload
  std::uint32_t sum = 0;

  std::size_t record_size() const { return kRecordHead + length; }
};
// Nothing: the bytes begin with no head whose check fits.
std::optional<RecordHead> read_head(std::string_view bytes);
bool is_known(std::uint8_t kind);
std::string_view kind_name(RecordKind kind);  // as in docs/journal.md; of an unknown one empty
// Where the first whole, valid record of a known kind begins, at `from` or behind it. It may lie in
// the payload of another one that is damaged. Of bytes in which heads are good and payloads are
// not, again and again, as none of our programs leaves them: where such a head is, once as much was
// summed up as some such files have.
std::optional<std::size_t> find_record(std::string_view bytes, std::size_t from);

// What a file's bytes hold, from the first record on.
class RecordScanner {
 public:
  explicit RecordScanner(std::string_view bytes) : bytes_(bytes) {}

  struct Item {
    RecordKind kind;
    std::string_view payload;  // into the bytes
    std::uint64_t offset;      // of the record in the bytes
  };
  // The next record. Nothing: the end, or a torn tail, which is where end_of_good() is less than
  // the size: bytes that are no whole record, with no valid record anywhere behind them. (A head
  // that is good says where its record ends, so that nothing inside of it counts as behind.) An
  // error names the byte and what is wrong there: damage with valid records behind it, a kind that
  // is unknown, a first record that is no header, a header or snapshot in another place than the
  // first or second; after it only errors follow.
  Result<std::optional<Item>> next();
  std::uint64_t end_of_good() const { return good_; }

 private:
  std::unexpected<Error> broken(const std::string& what);

  std::string_view bytes_;
  std::uint64_t good_ = 0;
  std::uint64_t records_ = 0;
  std::string error_;
};

}  // namespace attune
