#pragma once
// When to ping, and when to believe that nobody is there any more. Counts ticks of a timer, of
// which one is late when the process stood still: then the other side is not blamed. No clock.
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
    // The first tick may follow the last byte at once.
    silence_ticks_ = (silence + tick_ - milliseconds(1)) / tick_ + 1;
    silence_ = silence;
    heard_ = spoken_ = pinged_ = 0;
  }
  milliseconds tick() const { return tick_; }
  milliseconds silence() const { return silence_; }

  void heard() { heard_ = 0; }
  void spoken() { spoken_ = 0; }

  enum class Verdict { nothing, ping, silent };
  // `listening`: the other side could have been heard.
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
  std::int64_t heard_ = 0, spoken_ = 0, pinged_ = 0;  // ticks since then
};

}  // namespace attune
