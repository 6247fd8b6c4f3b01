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
// rightly. A record may lack the line end.
class MetricParser {
 public:
  static constexpr int kMaxErrors = 100;  // then the rest of the file is ignored

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
  std::unexpected<Error> broken(std::uint64_t at, const std::string& what,
                                const std::string& found);

  std::string buffer_;
  std::size_t begin_ = 0;  // of what is not consumed
  std::uint64_t offset_;   // of begin_ in the file
  bool skipping_ = false;  // inside bytes that were already complained about
  bool finished_ = false;
  int errors_ = 0;
};

}  // namespace attune
