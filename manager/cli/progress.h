#pragma once
// What the user sees while an experiment runs. On a terminal one status line, rewritten in place;
// otherwise one plain line for each finished trial. Writes to standard error, so that standard
// output holds the result alone.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "manager/trials/trial_record.h"
#include "os/clock.h"

namespace attune {

struct ProgressOptions {
  std::FILE* stream = stderr;
  bool terminal = false;           // rewrite one line
  bool ansi = false;               // clear with an escape sequence instead of blanks
  bool quiet = false;              // warnings only
  std::string metric = "default";  // that trial_ended shows
  std::optional<std::int64_t> max_trials;
  std::optional<double> max_seconds;
};

// 4.2 s, 42 s, 3 min 05 s, 2 h 10 min, 3 d 04 h
std::string duration_text(double seconds);
std::string trials_text(std::int64_t count);  // "1 trial", "12 trials"

// [13/40] 2 running, 5 stopped early, 1 failed, best 0.9801 (t0007), 25 s, about 50 s left
// `best` is a best_text(), commands/best_text.h.
std::string status_line(const Tally& tally, const std::string& best, double elapsed,
                        const ProgressOptions& options);

// Not thread safe.
class Progress {
 public:
  Progress(ProgressOptions options, const Clock& clock);
  ~Progress();

  void update(const Tally& tally);
  void trial_ended(const TrialRecord& trial, const std::string& best);  // best_text()
  void message(const std::string& text);                                // a whole line that stays
  void redraw();  // the elapsed time goes on without events; a terminal's width may have changed
  void clear();   // takes the status line away

  // How long earlier sessions took. What is shown counts them, as the tally counts their trials.
  void count_earlier(double seconds) { earlier_ = seconds; }
  double elapsed() const { return clock_.now() - started_; }  // of this session

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
