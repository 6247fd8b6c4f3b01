#pragma once
// Future events in virtual time: a queue ordered by (time, insertion number), so that events with
// the same time come out in the order in which they were pushed. After the simulator of Syne Tune.
//
// push() and pop() are logarithmic in the number of queued events. Not thread safe.
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace attune {

struct SimulatedEvent {
  enum class Kind { start, report, end, stop };
  double time = 0;           // of the virtual clock, seconds
  std::uint64_t number = 0;  // number of the push
  std::int64_t trial = 0;
  Kind kind = Kind::start;
  int epoch = 0;  // of a report or an end, from 1; otherwise 0

  friend bool operator>(const SimulatedEvent& a, const SimulatedEvent& b) {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
};

class EventQueue {
 public:
  void push(double time, std::int64_t trial, SimulatedEvent::Kind kind, int epoch = 0);
  // Removes all queued events of the trial. Events that are pushed later are not affected.
  void remove(std::int64_t trial);

  std::optional<double> next_time() const;  // nothing if the queue is empty
  // The first event if it is due at `until` or before.
  std::optional<SimulatedEvent> pop(double until);

 private:
  void drop_removed();

  // A removed event stays in the heap until it is at the top, because taking it out earlier would
  // be linear.
  std::priority_queue<SimulatedEvent, std::vector<SimulatedEvent>, std::greater<>> events_;
  // Trial -> its events before this number are removed.
  std::unordered_map<std::int64_t, std::uint64_t> removed_;
  std::uint64_t next_number_ = 0;
};

}  // namespace attune
