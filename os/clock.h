#pragma once
// Time as an argument: whoever needs it is given a Clock, tests give a ManualClock. Only clock.cpp
// asks the system.

namespace attune {

class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds since an arbitrary start; never goes back. For the system's clock the start is the
  // boot, and time in which the machine sleeps counts; so processes of one boot can compare their
  // times.
  virtual double now() const = 0;
  virtual double wall() const = 0;  // seconds since 1970-01-01 UTC; for records, not for intervals
};

// Any thread may use it.
class SystemClock final : public Clock {
 public:
  double now() const override;
  double wall() const override;
};

// Stands still until told otherwise. Not thread safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(double wall = 1.7e9) : wall_(wall) {}
  void advance(double seconds) { passed_ += seconds; }
  // Moves to exactly now() == `time`; a sum of differences would be inexact. Does not go back.
  void advance_to(double time) { passed_ = time > passed_ ? time : passed_; }
  double now() const override { return passed_; }
  double wall() const override { return wall_ + passed_; }

 private:
  double wall_;
  double passed_ = 0;
};

}  // namespace attune
