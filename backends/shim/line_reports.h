#pragma once
// Reports of a trial that only prints: lines of its output become records of the spool.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "backends/report/regex.h"
#include "backends/report/report_rules.h"
#include "backends/shim/spool_writer.h"

namespace attune::shim {

// A line ends at "\n", at "\r" (a progress display), or where the output does. Each line reports at
// most once for each pattern. What hinders is told as a problem, each kind once: a group that is no
// number, a pattern that takes too long (behind kMaxCostly of such lines it is not used any more),
// a line that is cut, more than kMaxBytes of reports. What the spool does not take waits here; of
// more than kMaxWaiting bytes the oldest are lost.
class LineReports {
 public:
  static constexpr std::size_t kMaxMetric = 64 << 10;    // of a longer line the beginning counts
  static constexpr std::uint64_t kMaxBytes = 256 << 20;  // of an attempt, in the spool
  static constexpr std::size_t kMaxWaiting = 16 << 20;   // while the disk is full
  static constexpr int kMaxCostly = 100;

  explicit LineReports(SpoolWriter& spool) : spool_(spool) {}

  // Before anything else; a pattern that cannot be used is told as a problem.
  void add_pattern(const std::string& regex, OutputStream stream);
  void use_tune_metric() { tune_metric_ = true; }
  bool wanted() const { return tune_metric_ || !patterns_.empty(); }

  // `stream`: out or err.
  void feed(OutputStream stream, std::string_view bytes);
  // What is left is a line. False: the spool did not take all; may be called again.
  bool finish();
  bool waits() const { return !waiting_.empty(); }  // something, for room in the spool
  void try_again();

 private:
  struct Pattern {
    Regex regex;
    OutputStream stream;
    int costly = 0;
    std::vector<std::string> told;  // groups
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
  std::uint64_t lost_ = 0;  // reports that were too many to wait, and that was not told yet
  bool told_cut_ = false, told_too_much_ = false;
};

}  // namespace attune::shim
