#include "backends/shim/line_reports.h"

#include <algorithm>
#include <utility>

#include "backends/report/metric_text.h"
#include "backends/report/spool.h"
#include "backends/report/tune_metric.h"

namespace attune::shim {
namespace {

constexpr std::uint64_t kHeader = 32;  // about the size of a record's header
constexpr std::size_t kShown = 40;     // of a text in a message

std::string shown(std::string_view text) {
  std::string result(text.substr(0, kShown));
  // The message may be shown on a terminal.
  std::ranges::replace_if(result, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return result;
}

}  // namespace

void LineReports::add_pattern(const std::string& regex, OutputStream stream) {
  auto compiled = Regex::compile(regex);
  if (!compiled) {
    spool_.append(spool::kProblem, compiled.error().message);
    return;
  }
  patterns_.push_back({*std::move(compiled), stream, 0, {}});
}

void LineReports::feed(OutputStream stream, std::string_view bytes) {
  Line& line = stream == OutputStream::out ? out_ : err_;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\n\r");
    const std::string_view part = bytes.substr(0, end);
    const std::size_t room = std::min(part.size(), max_line() - line.text.size());
    line.text.append(part.substr(0, room));
    line.cut = line.cut || room < part.size();
    if (end == std::string_view::npos) return;
    end_line(stream, line);
    bytes.remove_prefix(end + 1);
  }
}

bool LineReports::finish() {
  end_line(OutputStream::out, out_);
  end_line(OutputStream::err, err_);
  try_again();
  return !waits();
}

void LineReports::end_line(OutputStream stream, Line& line) {
  const std::string text = std::exchange(line.text, {});
  if (std::exchange(line.cut, false)) {
    complain(told_cut_, "a line of the output is longer than " + std::to_string(max_line()) +
                            " bytes; only its beginning is searched for results");
  }
  if (text.empty()) return;
  if (tune_metric_ && stream == OutputStream::out) {
    if (const auto metric = find_tune_metric(text)) report(*metric);
  }
  for (Pattern& pattern : patterns_) {
    if (pattern.stream == stream || pattern.stream == OutputStream::both) match(pattern, text);
  }
}

void LineReports::match(Pattern& pattern, std::string_view line) {
  if (pattern.costly >= kMaxCostly) return;
  Regex::Match match;
  const auto outcome = pattern.regex.find(line, match);
  if (outcome == Regex::Outcome::too_costly) {
    ++pattern.costly;
    if (pattern.costly == 1 || pattern.costly == kMaxCostly) {
      spool_.append(spool::kProblem,
                    pattern.costly == 1
                        ? "the regular expression takes too long for the line '" + shown(line) +
                              "', which is left out; make it simpler (nested repetitions?)"
                        : "the regular expression took too long for " + std::to_string(kMaxCostly) +
                              " lines; it is not used any more");
    }
    return;
  }
  if (outcome == Regex::Outcome::none) return;
  const MetricText metric = metric_text(match);
  if (!metric.bad_group.empty() &&
      std::ranges::find(pattern.told, metric.bad_group) == pattern.told.end()) {
    pattern.told.emplace_back(metric.bad_group);
    spool_.append(spool::kProblem, "the group " + std::string(metric.bad_group) +
                                       " of the regular expression found no number but '" +
                                       shown(metric.bad_text) + "'");
  }
  if (!metric.json.empty()) report(metric.json);
}

void LineReports::report(std::string_view body) {
  if (written_ + body.size() + kHeader > kMaxBytes) {
    complain(told_too_much_, "the output holds more than " + std::to_string(kMaxBytes) +
                                 " bytes of results; the rest is ignored");
    return;
  }
  written_ += body.size() + kHeader;
  waiting_.emplace_back(body);
  waiting_bytes_ += body.size() + kHeader;
  try_again();
  // Drops the oldest, because the newest may be the final result.
  for (; waiting_bytes_ > kMaxWaiting && waiting_.size() > 1; ++lost_) drop_first();
}

// Writes the waiting reports in their order, because reports are numbered.
void LineReports::try_again() {
  while (waits() && spool_.append(spool::kReport, waiting_.front())) drop_first();
  if (!waits()) tell_lost();
}

void LineReports::drop_first() {
  waiting_bytes_ -= waiting_.front().size() + kHeader;
  waiting_.pop_front();
}

void LineReports::tell_lost() {
  if (lost_ == 0) return;
  const std::string text = std::to_string(lost_) + " results were lost while the disk was full";
  if (spool_.append(spool::kProblem, text)) lost_ = 0;
}

void LineReports::complain(bool& told, const std::string& text) {
  if (!std::exchange(told, true)) spool_.append(spool::kProblem, text);
}

}  // namespace attune::shim
