#include "backends/report/metric_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "protocol/codec.h"

namespace attune {
namespace {

constexpr std::size_t kHeader = 8;  // "ME" and six digits

bool is_space(char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; }

// Whether `bytes` begin with a header, or are the beginning of one.
bool looks_like_header(std::string_view bytes) {
  constexpr std::string_view kCode = "ME";
  for (std::size_t i = 0; i < std::min(bytes.size(), kHeader); ++i) {
    if (i < 2 ? bytes[i] != kCode[i] : bytes[i] < '0' || bytes[i] > '9') return false;
  }
  return true;
}

std::size_t body_length(std::string_view header) {
  std::size_t length = 0;
  for (const char c : header.substr(2, 6)) length = length * 10 + static_cast<std::size_t>(c - '0');
  return length;
}

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The index of the first byte that is no white space; the size if there is none.
std::size_t first_of_text(std::string_view bytes) {
  return static_cast<std::size_t>(std::ranges::find_if_not(bytes, is_space) - bytes.begin());
}

// Checks the first byte before the white space at the end, because there may be much of that.
bool is_object(std::string_view body) {
  return body.starts_with('{') && without_trailing_space(body).ends_with('}');
}

// Whether the length of a record seems right, whatever the content is.
bool is_whole(std::string_view body, std::string_view behind) {
  return is_object(body) && (body.ends_with('\n') || looks_like_header(behind));
}

Result<MetricRecord> parse_record(std::string_view body) {
  // This check also keeps the search for the next record cheap if the length is nonsense.
  if (!is_object(body)) {
    return fail("the record is not a JSON object of the length that its header gives");
  }
  const std::string_view text = without_trailing_space(body);
  Frame frame{"ME", std::string(text)};
  Command command = TRY(decode(frame));
  return MetricRecord{std::move(frame.payload), std::get<ReportMetricData>(std::move(command))};
}

}  // namespace

void MetricParser::feed(std::string_view bytes) {
  if (ignoring_) return;
  buffer_.erase(0, begin_);
  begin_ = 0;
  buffer_.append(bytes);
}

void MetricParser::consume(std::size_t n) {
  begin_ += n;
  offset_ += n;
}

std::unexpected<Error> MetricParser::broken(std::size_t at, std::size_t size,
                                            const std::string& what) {
  const std::string found = printable(std::string_view(buffer_).substr(begin_ + at), 40);
  std::string message =
      fmt::format(".nni/metrics, byte {}: {}; found '{}'", offset_ + at, what, found);
  consume(size);
  if (++errors_ > kMaxErrors || too_much()) {
    message += too_much() ? "; too much is no metric" : "; too many errors";
    message += ", the rest of the file is ignored";
    ignoring_ = true;
    buffer_.clear();
    begin_ = 0;
  }
  return fail(std::move(message));
}

Result<std::variant<NeedMoreBytes, MetricRecord>> MetricParser::next() {
  while (begin_ < buffer_.size()) {
    const std::string_view rest = std::string_view(buffer_).substr(begin_);
    std::string wrong;
    std::size_t skip = 0;
    std::size_t at = 0;  // what is wrong, in what is skipped
    bool whole = false;
    if (looks_like_header(rest)) {
      const std::size_t size = rest.size() < kHeader ? kHeader : kHeader + body_length(rest);
      // Skips only the header and not the whole record, unless it looks whole: its length may be
      // the error.
      skip = std::min(rest.size(), kHeader);
      if (rest.size() >= size) {
        const std::string_view body = rest.substr(kHeader, size - kHeader);
        Result<MetricRecord> record = parse_record(body);
        if (record) {
          quiet_ = false;
          consume(size);
          return std::move(*record);
        }
        const std::string_view behind = rest.substr(size);
        whole = is_whole(body, behind);
        // How much is skipped must not depend on how much was written until now.
        if (whole && !body.ends_with('\n') && behind.size() < kHeader && !finished_) break;
        wrong = record.error().message;
        if (body.starts_with('{')) failed_ += size;
        if (whole) skip = size;
      } else if (finished_) {
        wrong = "the record ends early";  // cut off by a kill, or a wrong length
      } else {
        break;
      }
    } else {
      skip = std::min(rest.find('M', 1), rest.size());  // no other byte begins a record
      at = first_of_text(rest.substr(0, skip));
      if (at < skip) wrong = "expected \"ME\", six digits and a JSON object";
    }
    if (!wrong.empty()) {
      garbage_ += skip;
      const bool told = quiet_ && !whole;
      quiet_ = !whole;
      if (!told || too_much()) return broken(at, skip, wrong);
    }
    consume(skip);
  }
  return NeedMoreBytes{};
}

}  // namespace attune
