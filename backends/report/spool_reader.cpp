#include "backends/report/spool_reader.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "backends/report/spool.h"
#include "protocol/codec.h"
#include "protocol/frame.h"

namespace attune {
namespace {

constexpr std::size_t kMaxHeader = 80;

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // from_chars() accepts "nan" and "inf", which the store does not accept as a time.
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

// The text after "name=", up to the next blank; empty if there is none.
std::string_view field(std::string_view body, std::string_view name) {
  while (!body.empty()) {
    const std::size_t end = std::min(body.find(' '), body.size());
    const std::string_view word = body.substr(0, end);
    if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=') {
      return word.substr(name.size() + 1);
    }
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return {};
}

template <class Number>
Number field_number(std::string_view body, std::string_view name) {
  return number<Number>(field(body, name)).value_or(Number{});
}

AttemptFacts::Process process(std::string_view body) {
  return {field_number<pid_t>(body, "pid"), field_number<std::uint64_t>(body, "start")};
}

std::vector<std::string> parts(std::string_view list) {
  std::vector<std::string> result;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    result.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return result;
}

std::size_t read_at(int fd, off_t offset, std::span<char> bytes) {
  ssize_t size = -1;
  do {
    size = ::pread(fd, bytes.data(), bytes.size(), offset);
  } while (size < 0 && errno == EINTR);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

}  // namespace

void SpoolParser::feed(std::string_view bytes) {
  if (damaged_) return;
  buffer_.erase(0, begin_);
  begin_ = 0;
  buffer_.append(bytes);
}

std::size_t SpoolParser::forget_rest() {
  const std::size_t size = buffer_.size() - begin_;
  buffer_.clear();
  begin_ = 0;
  return size;
}

std::optional<SpoolRecord> SpoolParser::give_up() {
  damaged_ = true;
  buffer_ = {};
  begin_ = 0;
  return std::nullopt;
}

std::optional<SpoolRecord> SpoolParser::next() {
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  const std::size_t line = rest.substr(0, kMaxHeader).find('\n');
  if (line == std::string_view::npos) return rest.size() < kMaxHeader ? std::nullopt : give_up();
  const std::string_view header = rest.substr(0, line);
  const std::size_t first = header.find(' ');
  const std::size_t second = header.rfind(' ');
  if (first == std::string_view::npos || second == first) return give_up();
  const auto time = number<double>(header.substr(first + 1, second - first - 1));
  const auto length = number<std::size_t>(header.substr(second + 1));
  if (!time || !length || *length > spool::kMaxBody) return give_up();
  const std::string_view behind = rest.substr(line + 1);
  // The body, or the line end after it, is not there yet.
  if (behind.size() <= *length) return std::nullopt;
  if (behind[*length] != '\n') return give_up();
  begin_ += line + 1 + *length + 1;
  return SpoolRecord{header.substr(0, first), *time, behind.substr(0, *length)};
}

std::optional<double> AttemptFacts::ran(double time) const {
  if (!begun) return std::nullopt;
  const double ran = std::max(time - *begun, 0.0);
  // Two huge times may differ by infinity.
  return std::isfinite(ran) ? std::optional(ran) : std::nullopt;
}

void AttemptFacts::take(const SpoolRecord& record) {
  if (!begun) begun = record.time;
  if (record.type == spool::kShim) {
    shim = process(record.body);
    boot = field(record.body, "boot");
    gpus = parts(field(record.body, "gpus"));
  } else if (record.type == spool::kStart) {
    command = process(record.body);
  } else if (record.type == spool::kStop) {
    (record.body == "pause" ? told_to_pause : told_to_stop) = true;
  } else if (record.type == spool::kRestore) {
    restore_error = record.body;
  } else if (record.type == spool::kExit) {
    exit =
        Exit{field_number<int>(record.body, "code"),     field_number<int>(record.body, "signal"),
             field_number<int>(record.body, "oom") != 0, field_number<double>(record.body, "cpu"),
             field_number<double>(record.body, "rss"),   record.time};
  }
}

AttemptFacts read_facts(int fd, std::size_t limit) {
  AttemptFacts facts;
  SpoolParser parser;
  std::string bytes(std::min<std::size_t>(limit, 256 << 10), '\0');
  std::size_t offset = 0;
  while (offset < limit && !parser.damaged()) {
    const std::size_t size = read_at(fd, static_cast<off_t>(offset), bytes);
    if (size == 0) break;
    offset += size;
    parser.feed(std::string_view(bytes).substr(0, size));
    while (const auto record = parser.next()) facts.take(*record);
  }
  return facts;
}

bool is_held(int fd) {
  // The shim holds an exclusive lock; a shared one cannot be taken beside it.
  if (::flock(fd, LOCK_SH | LOCK_NB) != 0) return true;
  ::flock(fd, LOCK_UN);
  return false;
}

SpoolReader::SpoolReader(std::string job_id, UniqueFd spool, std::uint64_t position,
                         ParameterId parameter_id, std::string objective)
    : job_id_(std::move(job_id)),
      spool_(std::move(spool)),
      metrics_(position),
      position_(position),
      parameter_id_(std::move(parameter_id)),
      objective_(std::move(objective)) {}

bool SpoolReader::read(std::span<char> buffer, bool late, std::vector<TrialEvent>& events) {
  if (parser_.damaged()) return false;
  const std::size_t size = read_at(spool_.get(), offset_, buffer);
  offset_ += static_cast<off_t>(size);
  parser_.feed({buffer.data(), size});
  while (const auto record = parser_.next()) {
    facts_.take(*record);
    take(*record, late || facts_.told_to_stop || facts_.told_to_pause, events);
  }
  if (parser_.damaged()) {
    events.push_back(TrialProblem{
        job_id_,
        "its spool is damaged, and what comes next in it is lost: only its shim may write "
        "there"});
    return false;
  }
  // The buffer is full, so there may be more in the file.
  if (size == buffer.size()) return true;
  // The incomplete record is read again later: on a full disk the shim takes back such a record and
  // writes it anew.
  offset_ -= static_cast<off_t>(parser_.forget_rest());
  return false;
}

void SpoolReader::take(const SpoolRecord& record, bool late, std::vector<TrialEvent>& events) {
  if (record.type == spool::kMetric) {
    const std::uint64_t skipped =
        stream_ < position_ ? std::min<std::uint64_t>(position_ - stream_, record.body.size()) : 0;
    stream_ += record.body.size();
    time_ = record.time;
    metrics_.feed(record.body.substr(static_cast<std::size_t>(skipped)));
    take_reports(late, events);
  } else if (record.type == spool::kReport) {
    take_printed(record, late, events);
  } else if (record.type == spool::kProblem && stream_ >= position_) {
    events.push_back(TrialProblem{job_id_, std::string(record.body)});
  }
}

void SpoolReader::take_printed(const SpoolRecord& record, bool late,
                               std::vector<TrialEvent>& events) {
  stream_ += record.body.size();
  // An earlier manager has stored reports that end at or before position_.
  const bool wanted = stream_ > position_;
  auto value = parse_json(record.body);
  if (!value || !value->is_object()) {
    if (wanted) {
      events.push_back(
          TrialProblem{job_id_, fmt::format("a line reports no JSON object, and is ignored: '{}'",
                                            printable(record.body))});
    }
    return;
  }
  // A line without the objective, or whose value is no number, does not replace the last result.
  const auto result = value->find(objective_);
  if (result != value->end() && (result->is_number() || result->is_boolean())) last_ = *value;
  // Left-out reports are counted too, because a later manager must continue the numbering.
  const std::int64_t sequence = printed_++;
  if (!wanted) return;
  events.push_back(make_report(ReportMetricData::Type::periodical, sequence, *std::move(value),
                               record.time, stream_, late));
}

TrialReport SpoolReader::make_report(ReportMetricData::Type type, std::int64_t sequence, json value,
                                     double time, std::uint64_t position, bool late) const {
  ReportMetricData metric{type, parameter_id_, job_id_, sequence, std::move(value)};
  std::string text = encode(metric).payload;
  return {job_id_, std::move(text), std::move(metric), time, position, late, facts_.ran(time)};
}

std::optional<TrialReport> SpoolReader::final_report(json value, double time) const {
  if (!final_wanted()) return std::nullopt;
  return make_report(ReportMetricData::Type::final, 0, std::move(value), time, stream_ + 1, false);
}

void SpoolReader::finish(bool late, std::vector<TrialEvent>& events) {
  metrics_.finish();
  take_reports(late || facts_.told_to_stop || facts_.told_to_pause, events);
}

void SpoolReader::take_reports(bool late, std::vector<TrialEvent>& events) {
  while (true) {
    auto next = metrics_.next();
    if (!next) {
      events.push_back(TrialProblem{job_id_, next.error().message});
      continue;
    }
    auto* record = std::get_if<MetricRecord>(&*next);
    if (record == nullptr) return;
    if (record->metric.trial_job_id != job_id_) {
      events.push_back(TrialProblem{
          job_id_, fmt::format("a metric with trial_job_id \"{}\" was ignored: write the value of "
                               "$NNI_TRIAL_JOB_ID, which is \"{}\" in this trial",
                               printable(record->metric.trial_job_id), job_id_)});
      continue;
    }
    events.push_back(TrialReport{job_id_, std::move(record->text), std::move(record->metric), time_,
                                 metrics_.offset(), late, facts_.ran(time_)});
  }
}

}  // namespace attune
