#pragma once
// Turns lines of the trial's output into report records of the spool, for trials that only print.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "backends/report/regex.h"
#include "backends/report/report_rules.h"
#include "backends/shim/spool_writer.h"

namespace attune::shim {

// A line ends at "\n", at "\r" (a progress display), or at the end of the output. Each line reports
// at most once for each pattern. Each kind of difficulty is reported as a problem once: a group
// that is no number; a pattern that takes too long (after kMaxCostly such lines it is not used any
// more); a line that is too long; more than kMaxBytes of reports. Reports that the spool cannot
// take wait here; of more than kMaxWaiting bytes the oldest are lost.
class LineReports {
 public:
  static constexpr std::size_t kMaxMetric = 64 << 10;  // only the beginning of a longer line counts
  static constexpr std::uint64_t kMaxBytes = 256 << 20;  // of an attempt, in the spool
  static constexpr std::size_t kMaxWaiting = 16 << 20;   // while the disk is full
  static constexpr int kMaxCostly = 100;

  explicit LineReports(SpoolWriter& spool) : spool_(spool) {}

  // Call these two before anything else. A pattern that cannot be used is reported as a problem.
  void add_pattern(const std::string& regex, OutputStream stream);
  void use_tune_metric() { tune_metric_ = true; }
  bool wanted() const { return tune_metric_ || !patterns_.empty(); }

  // `stream`: out or err.
  void feed(OutputStream stream, std::string_view bytes);
  // Takes what is left as a line. Returns false if the spool did not take everything; it may be
  // called again.
  bool finish();
  bool waits() const { return !waiting_.empty(); }  // some report waits for room in the spool
  void try_again();

 private:
  struct Pattern {
    Regex regex;
    OutputStream stream;
    int costly = 0;
    std::vector<std::string> told;  // groups for which a problem was reported
  };
  struct Line {
    std::string text;
    bool cut = false;
  };

  std::size_t max_line() const { return tune_metric_ ? kMaxMetric : Regex::kMaxText; }
  void end_line(OutputStream stream, Line& line);
  void match(Pattern& pattern, std::string_view line);
  void report(std::string_view body);
  void drop_first();
  void tell_lost();
  void complain(bool& told, const std::string& text);

  SpoolWriter& spool_;
  std::vector<Pattern> patterns_;
  bool tune_metric_ = false;
  Line out_, err_;
  std::uint64_t written_ = 0;
  std::deque<std::string> waiting_;  // reports that the spool has not taken, the oldest first
  std::size_t waiting_bytes_ = 0;
  std::uint64_t lost_ = 0;  // reports that were dropped, until the spool has a problem about them
  bool told_cut_ = false, told_too_much_ = false;
};

}  // namespace attune::shim
