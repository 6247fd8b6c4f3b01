#pragma once
// Limits how many log lines of one kind are written in a second: whoever can make us log must not
// fill the disk in this way.
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace attune {

// Any thread.
class LineRate {
 public:
  explicit LineRate(int most_a_second) : most_(most_a_second) {}

  // Write_last: further ones of this second are left out.
  enum class Verdict { write, write_last, leave_out };
  // `kind` identifies a place in the program. A count is kept for each for ever, so there must not
  // be many. `second` is that of a clock, which may jump.
  Verdict ask(const void* kind, std::int64_t second) {
    const std::lock_guard lock(mutex_);
    Count& count = counts_[kind];
    if (count.second != second) count = {second, 0};
    if (count.lines >= most_) return Verdict::leave_out;
    return ++count.lines == most_ ? Verdict::write_last : Verdict::write;
  }

 private:
  struct Count {
    std::int64_t second = -1;
    int lines = 0;
  };

  const int most_;
  std::mutex mutex_;
  std::unordered_map<const void*, Count> counts_;
};

}  // namespace attune
