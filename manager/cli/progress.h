#pragma once
// Shows the user how an experiment goes: on a terminal as one status line that is rewritten in
// place, otherwise as one plain line for each finished trial. Writes to standard error, so that
// standard output has only the result.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "manager/trials/trial_record.h"
#include "os/clock.h"

namespace attune {

struct ProgressOptions {
  std::FILE* stream = stderr;
  bool terminal = false;           // `stream` is a terminal: rewrite one line
  bool ansi = false;               // clear the line with an escape sequence instead of blanks
  bool quiet = false;              // only message()
  std::string metric = "default";  // the metric that trial_ended() shows
  std::optional<std::int64_t> max_trials;
  std::optional<double> max_seconds;
};

// 4.2 s, 42 s, 3 min 05 s, 2 h 10 min, 3 d 04 h
std::string duration_text(double seconds);
std::string trials_text(std::int64_t count);  // "1 trial", "12 trials"

// [13/40] 2 running, 5 stopped early, 1 failed, best 0.9801 (t0007), 25 s, about 50 s left
// `best`: best_text() of commands/best_text.h.
std::string status_line(const Tally& tally, const std::string& best, double elapsed,
                        const ProgressOptions& options);

// Not thread safe.
class ProgressLine {
 public:
  ProgressLine(ProgressOptions options, const Clock& clock);
  ~ProgressLine();

  void update(const Tally& tally);
  void trial_ended(const TrialRecord& trial, const std::string& best);  // `best`: best_text()
  void message(const std::string& text);  // prints a line that stays; without its line end
  // Draws the status line with the present time and width of the terminal. Call it once a second.
  void redraw();
  void clear();  // removes the status line

  // Adds the duration of earlier sessions to the time that is shown.
  void count_earlier(double seconds) { earlier_ = seconds; }
  double elapsed() const { return clock_.now() - started_; }  // seconds of this session

 private:
  int width() const;

  ProgressOptions options_;
  const Clock& clock_;
  double started_;
  double earlier_ = 0;
  Tally tally_;
  std::string best_;
  double drawn_at_ = 0;
  std::size_t shown_ = 0;  // characters on the status line
};

}  // namespace attune
