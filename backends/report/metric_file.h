#pragma once
// NNI's trial file protocol, manager's side: the bytes that a trial appends to .nni/metrics.
//   record := "ME" + length as 6 digits + JSON text + "\n"      the length counts bytes, line end
//   included
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

// Takes the file in pieces of any size. Bytes that are no record cost one error, and reading goes
// on at the next thing that looks like one: what a trial wrote wrongly does not hide what it wrote
// rightly. Of records in a row that have the right length and the wrong content each costs one. A
// record may lack the line end.
class MetricParser {
 public:
  // Behind so many errors, or so many bytes that are no record, the rest of the file is ignored.
  // Headers in the text of other ones can make a few bytes be read very often: those that were
  // read in vain are limited, too.
  static constexpr int kMaxErrors = 100;
  static constexpr std::uint64_t kMaxGarbage = 1 << 20;
  static constexpr std::uint64_t kMaxFailed = 16 << 20;

  // The first byte that is fed is number `offset` of the file.
  explicit MetricParser(std::uint64_t offset = 0) : offset_(offset) {}

  void feed(std::string_view bytes);

  // No more bytes will come: a record that is not whole becomes an error instead of being awaited.
  void finish() { finished_ = true; }

  // The next record, or nothing new, or what is wrong at which byte of the file.
  Result<std::variant<NeedMoreBytes, MetricRecord>> next();

  // Of the first byte that was not consumed: behind the record that next() returned.
  std::uint64_t offset() const { return offset_; }

 private:
  void consume(std::size_t n);
  bool too_much() const { return garbage_ > kMaxGarbage || failed_ > kMaxFailed; }
  // Consumes `size` bytes, of which the one at `at` is the first that is wrong.
  std::unexpected<Error> broken(std::size_t at, std::size_t size, const std::string& what);

  std::string buffer_;
  std::size_t begin_ = 0;  // of what is not consumed
  std::uint64_t offset_;   // of begin_ in the file
  bool quiet_ = false;     // was complained about, until the next record
  bool finished_ = false;
  bool ignoring_ = false;  // the rest of the file
  int errors_ = 0;
  std::uint64_t garbage_ = 0;  // bytes that belong to no record
  std::uint64_t failed_ = 0;   // bytes of what was taken for a record, each time
};

}  // namespace attune
