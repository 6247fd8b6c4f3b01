#pragma once
// What is going to happen in virtual time: a queue ordered by (time, insertion number), so that
// events of the same time come out as they went in. After the simulator of Syne Tune.
//
// push and pop are logarithmic in the events that are queued. Not thread safe.
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
  std::uint64_t number = 0;  // counts what was pushed
  std::int64_t trial = 0;
  Kind kind = Kind::start;
  int epoch = 0;  // of a report or an end, from 1; else 0

  friend bool operator>(const SimulatedEvent& a, const SimulatedEvent& b) {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
};

class EventQueue {
 public:
  void push(double time, std::int64_t trial, SimulatedEvent::Kind kind, int epoch = 0);
  // All events of the trial that are queued now; later ones are pushed as if nothing had been.
  void remove(std::int64_t trial);

  std::optional<double> next_time() const;  // nothing: the queue is empty
  // The first event if it is due at `until` or before.
  std::optional<SimulatedEvent> pop(double until);

 private:
  void drop_removed();

  // A removed event stays inside until it comes to the top: taking it out of a heap is linear.
  std::priority_queue<SimulatedEvent, std::vector<SimulatedEvent>, std::greater<>> events_;
  std::unordered_map<std::int64_t, std::uint64_t> removed_;  // trial -> events before this number
  std::uint64_t next_number_ = 0;
};

}  // namespace attune
