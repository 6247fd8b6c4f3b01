#include "journal/codec.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/crc32c.h"

namespace attune {
namespace {

constexpr std::size_t kChecked = 5;  // bytes under the head's checksum: length and kind
// find_record() computes checksums over at most this many times the size of the file; see there.
constexpr std::size_t kMostSums = 8;

void put(std::uint32_t number, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift & 0xFF);
}

std::uint32_t get(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 4; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return number;
}

bool is_whole(const RecordHead& head, std::string_view bytes) {
  return head.record_size() <= bytes.size() &&
         crc32c(bytes.substr(kRecordHead, head.length)) == head.sum;
}

}  // namespace

std::string_view kind_name(RecordKind kind) {
  switch (kind) {
    case RecordKind::header:
      return "header";
    case RecordKind::snapshot:
      return "snapshot";
    case RecordKind::begin:
      return "begin";
    case RecordKind::command:
      return "command";
    case RecordKind::tune:
      return "tune";
    case RecordKind::assess:
      return "assess";
    case RecordKind::answer:
      return "answer";
    case RecordKind::kept:
      return "kept";
    case RecordKind::edge:
      return "edge";
  }
  return "";
}

// Cheap, because find_record() calls it for every byte of a damaged file.
bool is_known(std::uint8_t kind) {
  const auto known = static_cast<RecordKind>(kind);
  return (known >= RecordKind::header && known <= RecordKind::kept) || known == RecordKind::edge;
}

void encode_head(RecordKind kind, std::string_view payload, std::string& out) {
  ATTUNE_CHECK(payload.size() <= kMostRecordBytes);
  const std::size_t start = out.size();
  put(static_cast<std::uint32_t>(payload.size()), out);
  out += static_cast<char>(kind);
  put(crc32c(std::string_view(out).substr(start, kChecked)), out);
  put(crc32c(payload), out);
}

void encode_record(RecordKind kind, std::string_view payload, std::string& out) {
  encode_head(kind, payload, out);
  out += payload;
}

std::optional<RecordHead> read_head(std::string_view bytes) {
  if (bytes.size() < kRecordHead) return {};
  if (get(bytes, kChecked) != crc32c(bytes.substr(0, kChecked))) return {};
  const RecordHead head{static_cast<std::uint8_t>(bytes[4]), get(bytes, 0), get(bytes, 9)};
  if (head.length > kMostRecordBytes) return {};
  return head;
}

std::optional<std::size_t> find_record(std::string_view bytes, std::size_t from) {
  std::size_t summed = 0;
  for (std::size_t at = from; at + kRecordHead <= bytes.size(); ++at) {
    // Payloads are mostly text, whose bytes are no valid kind. So this cheap test skips nearly all
    // positions before a checksum is computed.
    if (!is_known(static_cast<std::uint8_t>(bytes[at + 4]))) continue;
    const auto head = read_head(bytes.substr(at));
    if (!head) continue;
    if (summed > kMostSums * bytes.size() || is_whole(*head, bytes.substr(at))) return at;
    summed += std::min<std::size_t>(head->length, bytes.size() - at);
  }
  return {};
}

std::unexpected<Error> RecordScanner::broken(const std::string& what) {
  error_ = fmt::format("byte {}: {}", good_, what);
  return fail(error_);
}

Result<std::optional<RecordScanner::Item>> RecordScanner::next() {
  if (!error_.empty()) return fail(error_);
  const std::string_view rest = bytes_.substr(good_);
  if (rest.empty()) return std::nullopt;
  const auto head = read_head(rest);
  if (!head || !is_whole(*head, rest)) {
    // A torn tail is normal after a power cut and is cut off. Damage in the middle is not: all
    // later records depend on the lost one, so it is an error.
    const std::size_t behind = good_ + (head ? head->record_size() : 1);
    const auto later = find_record(bytes_, behind);
    if (!later) return std::nullopt;
    return broken(fmt::format("{}, and there are valid records from byte {} on",
                              head ? "the payload does not match its sum" : "no record begins here",
                              *later));
  }
  if (!is_known(head->kind)) {
    return broken(fmt::format("a record of kind {}, which this program does not know", head->kind));
  }
  const auto kind = static_cast<RecordKind>(head->kind);
  if ((kind == RecordKind::header) != (records_ == 0)) {
    return broken(records_ == 0 ? "the first record is no header" : "a second header");
  }
  if (kind == RecordKind::snapshot && records_ != 1) {
    return broken("a snapshot that does not stand right behind the header");
  }
  const Item item{kind, rest.substr(kRecordHead, head->length), good_};
  good_ += head->record_size();
  ++records_;
  return item;
}

}  // namespace attune
