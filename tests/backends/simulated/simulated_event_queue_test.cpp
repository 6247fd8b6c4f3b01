#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>

#include "backends/simulated/event_queue.h"
#include "base/json.h"
#include "base/rng.h"

namespace attune::simulated_event_queue_test {

using Kind = SimulatedEvent::Kind;

json recording() {
  std::ifstream file(ATTUNE_TEST_DATA "/simulated_event_queue.json");
  std::stringstream text;
  text << file.rdbuf();
  auto parsed = parse_json(text.str());
  REQUIRE(parsed.has_value());
  return *std::move(parsed);
}

// An event as the recording has it: name, trial, time, epoch.
json recorded(const SimulatedEvent& event) {
  static const std::map<Kind, const char*> names = {{Kind::start, "StartEvent"},
                                                    {Kind::report, "OnTrialResultEvent"},
                                                    {Kind::end, "CompleteEvent"}};
  return {names.at(event.kind), event.trial, event.time,
          event.epoch == 0 ? json() : json(event.epoch)};
}

json pop_until(EventQueue& queue, double until) {
  json events = json::array();
  while (const auto event = queue.pop(until)) events.push_back(recorded(*event));
  return events;
}

// Recorded from syne-tune v0.13.0.
TEST_CASE("event queue: does what Syne Tune's does") {
  const json script = recording();
  const std::map<std::string, Kind> kinds = {
      {"start", Kind::start}, {"result", Kind::report}, {"complete", Kind::end}};
  EventQueue queue;
  for (const json& event : script["push[kind,trial,time(,epoch)]"]) {
    queue.push(event[2].get<double>(), event[1].get<std::int64_t>(), kinds.at(event[0]),
               event.size() > 3 ? event[3].get<int>() : 0);
  }
  CHECK(pop_until(queue, 2.2) == script["next_until_2.2"]);
  queue.remove(0);
  CHECK(pop_until(queue, 4) == script["then_remove_trial_0_and_next_until_4"]);
  CHECK_FALSE(queue.next_time().has_value());
}

TEST_CASE("event queue: a removal is for what is queued, not for what comes later") {
  EventQueue queue;
  queue.push(1, 7, Kind::report, 1);
  queue.push(2, 8, Kind::report, 1);
  queue.remove(7);
  CHECK(queue.next_time() == 2);
  queue.push(1.5, 7, Kind::stop);
  const auto event = queue.pop(10);
  REQUIRE(event.has_value());
  CHECK(event->kind == Kind::stop);
  queue.remove(8);
  CHECK_FALSE(queue.next_time().has_value());
  CHECK_FALSE(queue.pop(10).has_value());
}

TEST_CASE("event queue: agrees with a sorted list, whatever is pushed and removed") {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    EventQueue queue;
    std::map<std::pair<double, std::uint64_t>, std::int64_t> expected;
    std::uint64_t number = 0;
    for (int step = 0; step < 60; ++step) {
      const auto trial = static_cast<std::int64_t>(rng.index(5));
      const double time = static_cast<double>(rng.index(8));
      const std::size_t action = rng.index(8);
      if (action < 5) {
        queue.push(time, trial, Kind::report, 1);
        expected[{time, number++}] = trial;
      } else if (action == 5) {
        queue.remove(trial);
        std::erase_if(expected, [&](const auto& item) { return item.second == trial; });
      } else {
        const auto event = queue.pop(time);
        const bool due = !expected.empty() && expected.begin()->first.first <= time;
        REQUIRE(event.has_value() == due);
        if (!due) continue;
        REQUIRE(event->time == expected.begin()->first.first);
        REQUIRE(event->trial == expected.begin()->second);
        expected.erase(expected.begin());
      }
      REQUIRE(queue.next_time() ==
              (expected.empty() ? std::optional<double>() : expected.begin()->first.first));
    }
  }
}

}  // namespace attune::simulated_event_queue_test
