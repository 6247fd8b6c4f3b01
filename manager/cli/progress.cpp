#include "manager/cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <utility>

#include "base/terminal_text.h"
#include "os/standard_output.h"

namespace attune {
namespace {

constexpr double kRedrawSeconds = 0.1;

std::string count_text(const Tally& tally, const ProgressOptions& options) {
  return options.max_trials ? fmt::format("[{}/{}]", tally.finished(), *options.max_trials)
                            : fmt::format("[{}]", tally.finished());
}

// An estimate from the mean pace so far and the time limit. Nothing: no trial has ended, and there
// is no time limit.
std::optional<double> seconds_left(const Tally& tally, double elapsed,
                                   const ProgressOptions& options) {
  std::optional<double> left;
  if (options.max_trials && tally.finished() > 0) {
    const auto to_do = static_cast<double>(*options.max_trials - tally.finished());
    left = elapsed / static_cast<double>(tally.finished()) * std::max(to_do, 0.0);
  }
  if (options.max_seconds) {
    const double rest = std::max(*options.max_seconds - elapsed, 0.0);
    left = std::min(left.value_or(rest), rest);
  }
  return left;
}

}  // namespace

std::string trials_text(std::int64_t count) {
  return fmt::format("{} trial{}", count, count == 1 ? "" : "s");
}

std::string duration_text(double seconds) {
  // Limits may be larger than an int64_t.
  const auto s = static_cast<std::int64_t>(std::min(seconds, 1e15));
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
  return fmt::format("{} d {:02} h", s / 86400, s % 86400 / 3600);
}

std::string status_line(const Tally& tally, const std::string& best, double elapsed,
                        const ProgressOptions& options) {
  std::string line =
      count_text(tally, options) + fmt::format(" {} running", tally.running - tally.waiting);
  if (tally.waiting > 0) line += fmt::format(", {} waiting", tally.waiting);
  if (tally.early_stopped > 0) line += fmt::format(", {} stopped early", tally.early_stopped);
  if (tally.user_canceled > 0) line += fmt::format(", {} cancelled", tally.user_canceled);
  if (tally.failed > 0) line += fmt::format(", {} failed", tally.failed);
  if (tally.paused > 0) line += fmt::format(", {} paused", tally.paused);
  if (!best.empty()) line += ", " + best;
  line += ", " + duration_text(elapsed);
  if (const auto left = seconds_left(tally, elapsed, options)) {
    line += fmt::format(", about {} left", duration_text(*left));
  }
  return line;
}

ProgressLine::ProgressLine(ProgressOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), started_(clock.now()) {}

ProgressLine::~ProgressLine() { clear(); }

int ProgressLine::width() const {
  winsize size = {};
  if (::ioctl(::fileno(options_.stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

void ProgressLine::update(const Tally& tally) {
  tally_ = tally;
  // With short trials the numbers change faster than anybody can read. redraw() of the next second
  // shows the last ones.
  if (shown_ == 0 || clock_.now() - drawn_at_ >= kRedrawSeconds) redraw();
}

void ProgressLine::redraw() {
  if (!options_.terminal || options_.quiet) return;
  std::string line = status_line(tally_, best_, earlier_ + elapsed(), options_);
  // A line that fills the last column would wrap, and \r would not return to its beginning.
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(width() - 1, 1))));
  const std::size_t blanks = options_.ansi || shown_ < line.size() ? 0 : shown_ - line.size();
  const char* clear_rest = options_.ansi ? "\x1b[K" : "";
  put_text(options_.stream, fmt::format("\r{}{:{}}{}", line, "", blanks, clear_rest));
  std::fflush(options_.stream);
  shown_ = line.size();
  drawn_at_ = clock_.now();
}

void ProgressLine::clear() {
  if (shown_ == 0) return;
  put_text(options_.stream, fmt::format("\r{:{}}\r", "", shown_));
  std::fflush(options_.stream);
  shown_ = 0;
}

void ProgressLine::message(const std::string& text) {
  clear();
  put_text(options_.stream, terminal_text(text) + "\n");
  std::fflush(options_.stream);
  redraw();
}

void ProgressLine::trial_ended(const TrialRecord& trial, const std::string& best) {
  best_ = best;
  if (options_.terminal || options_.quiet) return;
  std::string line = fmt::format("{} {} {}", count_text(tally_, options_), trial.job_id,
                                 status_word(trial.status));
  if (const auto score = trial.score(options_.metric)) line += fmt::format(" {:.6g}", *score);
  if (!trial.reason.empty()) line += fmt::format(" ({})", trial.reason);
  if (!best_.empty()) line += ", " + best_;
  message(line + ", " + duration_text(earlier_ + elapsed()));
}

}  // namespace attune
