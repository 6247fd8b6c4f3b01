#pragma once
// Decides when to send a ping, and when the other side counts as gone.
//
// It counts ticks of a timer instead of reading a clock. If this process was stopped for a minute,
// only one late tick comes, so the other side is not blamed for a silence that we did not listen
// to.
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace attune {

class LifeSigns {
 public:
  using milliseconds = std::chrono::milliseconds;
  LifeSigns(milliseconds ping, milliseconds silence) { set_intervals(ping, silence); }

  void set_intervals(milliseconds ping, milliseconds silence) {
    tick_ = std::max(std::min(ping, silence) / 4, milliseconds(1));
    ping_ticks_ = ping / tick_;
    // One tick more, because the first tick may come right after the last byte.
    silence_ticks_ = (silence + tick_ - milliseconds(1)) / tick_ + 1;
    silence_ = silence;
    heard_ = spoken_ = pinged_ = 0;
  }
  milliseconds tick() const { return tick_; }
  milliseconds silence() const { return silence_; }

  void heard() { heard_ = 0; }
  void spoken() { spoken_ = 0; }

  enum class Verdict { nothing, ping, silent };
  // Call it at each tick. `listening`: we were reading, so that a byte would have been noticed.
  Verdict count(bool listening) {
    heard_ = listening ? heard_ + 1 : 0;
    ++spoken_;
    ++pinged_;
    if (heard_ >= silence_ticks_) return Verdict::silent;
    if (pinged_ < ping_ticks_ || std::max(heard_, spoken_) < ping_ticks_) return Verdict::nothing;
    pinged_ = 0;
    return Verdict::ping;
  }

 private:
  milliseconds tick_{}, silence_{};
  std::int64_t ping_ticks_ = 0, silence_ticks_ = 0;
  // Ticks since the last received byte, the last sent byte, and the last ping.
  std::int64_t heard_ = 0, spoken_ = 0, pinged_ = 0;
};

}  // namespace attune
