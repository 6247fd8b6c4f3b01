#pragma once
// Parses what a trial appends to .nni/metrics: NNI's trial file protocol, on the manager's side.
//
//   record := "ME" + length as 6 digits + JSON text + "\n"
// The length counts bytes, the line end included.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "protocol/command.h"

namespace attune {

struct MetricRecord {
  std::string text;  // the JSON text without white space at its end
  ReportMetricData metric;
};
struct NeedMoreBytes {};

// Takes the file in pieces of any size. Bytes that are no record cause one error, and parsing
// continues at the next bytes that look like a record: so a wrong record does not hide the right
// ones after it. If several records in a row have the right length and wrong content, each causes
// an error. A record may lack the line end.
class MetricParser {
 public:
  // After so many errors, or so many bytes that are no record, the rest of the file is ignored.
  // Headers inside of the text of other records can cause a few bytes to be read very often, so the
  // number of bytes that were read in vain is limited, too.
  static constexpr int kMaxErrors = 100;
  static constexpr std::uint64_t kMaxGarbage = 1 << 20;
  static constexpr std::uint64_t kMaxFailed = 16 << 20;

  // `offset`: the position in the file of the first byte that will be fed.
  explicit MetricParser(std::uint64_t offset = 0) : offset_(offset) {}

  void feed(std::string_view bytes);

  // No more bytes will come: an incomplete record is now an error.
  void finish() { finished_ = true; }

  // The next record; NeedMoreBytes; or an error with the position in the file.
  Result<std::variant<NeedMoreBytes, MetricRecord>> next();

  // The position in the file of the first byte that was not consumed: right after the record that
  // next() returned.
  std::uint64_t offset() const { return offset_; }

 private:
  void consume(std::size_t n);
  bool too_much() const { return garbage_ > kMaxGarbage || failed_ > kMaxFailed; }
  // Consumes `size` bytes and makes the error; the byte at index `at` of them is the first wrong
  // one.
  std::unexpected<Error> broken(std::size_t at, std::size_t size, const std::string& what);

  std::string buffer_;
  std::size_t begin_ = 0;  // first byte in buffer_ that was not consumed
  std::uint64_t offset_;   // of begin_ in the file
  bool quiet_ = false;     // an error was reported: no more of them until the next record
  bool finished_ = false;
  bool ignoring_ = false;  // the rest of the file is ignored
  int errors_ = 0;
  std::uint64_t garbage_ = 0;  // bytes that belong to no record
  std::uint64_t failed_ = 0;   // bytes of wrong records, counted each time they are read
};

}  // namespace attune
