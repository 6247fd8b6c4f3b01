#include "backends/simulated/event_queue.h"

namespace attune {

void EventQueue::push(double time, std::int64_t trial, SimulatedEvent::Kind kind, int epoch) {
  events_.push({time, next_number_++, trial, kind, epoch});
}

void EventQueue::remove(std::int64_t trial) {
  removed_[trial] = next_number_;
  drop_removed();
}

std::optional<double> EventQueue::next_time() const {
  if (events_.empty()) return std::nullopt;
  return events_.top().time;
}

std::optional<SimulatedEvent> EventQueue::pop(double until) {
  if (events_.empty() || events_.top().time > until) return std::nullopt;
  const SimulatedEvent event = events_.top();
  events_.pop();
  drop_removed();
  return event;
}

// Drops removed events from the top, so that next_time() is the time of an event that will happen.
void EventQueue::drop_removed() {
  while (!events_.empty()) {
    const auto removed = removed_.find(events_.top().trial);
    if (removed == removed_.end() || events_.top().number >= removed->second) return;
    events_.pop();
  }
  removed_.clear();
}

}  // namespace attune
