#include "protocol/plain_metric.h"

#include <charconv>

#include "protocol/digits.h"

namespace attune {
namespace {

constexpr std::size_t kMostDigits = 18;  // any integer of so many digits fits

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view take_digits(std::string_view& rest) {
  std::size_t n = 0;
  while (n < rest.size() && is_digit(rest[n])) ++n;
  const std::string_view digits = rest.substr(0, n);
  rest.remove_prefix(n);
  return digits;
}

bool take(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

// The digits before a point, as JSON allows them: no zero in front.
std::optional<std::string_view> take_whole(std::string_view& rest) {
  const std::string_view digits = take_digits(rest);
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  return digits;
}

std::int64_t to_integer(std::string_view digits) {
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Reads all of `text` as one JSON number, of the same type that the general parser gives it:
// unsigned, negative, real. Leaves -0, and what is beyond the range, to that parser.
std::optional<json> to_number(std::string_view text) {
  std::string_view rest = text;
  const bool negative = take(rest, '-');
  const auto whole = take_whole(rest);
  if (!whole) return std::nullopt;
  if (rest.empty()) {
    if (whole->size() > kMostDigits || (negative && whole == "0")) return std::nullopt;
    const std::int64_t value = to_integer(*whole);
    return negative ? json(-value) : json(static_cast<std::uint64_t>(value));
  }
  if (take(rest, '.') && take_digits(rest).empty()) return std::nullopt;
  if (take(rest, 'e') || take(rest, 'E')) {
    if (!take(rest, '+')) take(rest, '-');
    if (take_digits(rest).empty()) return std::nullopt;
  }
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!rest.empty() || parsed.ec != std::errc()) return std::nullopt;
  return value;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  bool skip(char c) {
    skip_blanks();
    return take(rest_, c);
  }
  std::optional<std::string_view> text() {
    if (!skip('"')) return std::nullopt;
    std::size_t n = 0;
    while (n < rest_.size() && rest_[n] >= 0x20 && rest_[n] < 0x7f && rest_[n] != '"' &&
           rest_[n] != '\\') {
      ++n;
    }
    const std::string_view text = rest_.substr(0, n);
    rest_.remove_prefix(n);
    if (!take(rest_, '"')) return std::nullopt;
    return text;
  }
  std::optional<std::int64_t> natural() {
    skip_blanks();
    const auto digits = take_whole(rest_);
    if (!digits || digits->size() > kMostDigits) return std::nullopt;
    return to_integer(*digits);
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_[0])) rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

enum Key : unsigned {  // bits of a set
  kUnusual = 0,
  kParameterId = 1,
  kSequence = 2,
  kTrialJobId = 4,
  kType = 8,
  kValue = 16,
  kAllKeys = 31,
};

// Reads one member into `metric`.
Key read_member(Scanner& scanner, ReportMetricData& metric) {
  const auto key = scanner.text();
  if (!key || !scanner.skip(':')) return kUnusual;
  if (key == "parameter_id" || key == "sequence") {
    const auto number = scanner.natural();
    if (!number) return kUnusual;
    if (key == "sequence") {
      metric.sequence = *number;
      return kSequence;
    }
    metric.parameter_id = *number;
    return kParameterId;
  }
  const auto text = scanner.text();
  if (!text) return kUnusual;
  if (key == "trial_job_id") {
    metric.trial_job_id = *text;
    return kTrialJobId;
  }
  if (key == "type" && (text == "PERIODICAL" || text == "FINAL")) {
    using Type = ReportMetricData::Type;
    metric.type = text == "FINAL" ? Type::final : Type::periodical;
    return kType;
  }
  if (key == "value") {
    auto number = to_number(*text);
    if (!number) return kUnusual;
    metric.value = *std::move(number);
    return kValue;
  }
  return kUnusual;
}

}  // namespace

std::optional<ReportMetricData> read_plain_metric(std::string_view payload) {
  Scanner scanner(payload);
  ReportMetricData metric;
  if (!scanner.skip('{')) return std::nullopt;
  unsigned seen = 0;
  do {
    const Key key = read_member(scanner, metric);
    // Of a key that occurs twice the last one counts: the general parser does that.
    if (key == kUnusual || (seen & key) != 0) return std::nullopt;
    seen |= key;
  } while (scanner.skip(','));
  if (seen != kAllKeys || !scanner.skip('}') || !scanner.at_end()) return std::nullopt;
  return metric;
}

}  // namespace attune
