// What the decider hears of a trial that goes on: each iteration as the step that it is.
#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::trial_runner_steps_test {

// The steps, and values, that it was told.
std::vector<std::pair<std::int64_t, std::string>> told(ScriptedDecider& decider) {
  std::vector<std::pair<std::int64_t, std::string>> steps;
  for (const std::string& call : decider.take()) {
    const auto at = call.find('{');
    if (!call.starts_with("result") || at == std::string::npos) continue;
    const json message = parse_json(call.substr(at)).value();
    steps.emplace_back(message["sequence"].get<std::int64_t>(), message["value"]);
  }
  return steps;
}
using Told = std::vector<std::pair<std::int64_t, std::string>>;

void pause(World& w) {
  w.decider.listener->on_pause("t0000", "");
  w.pump();
}
void go_on(World& w) {
  w.end("t0000", Ending::paused);
  w.pump();
  w.propose("t0000");
  w.decider.take();
}
void report(World& w, const json& value, const ParameterId& id) {
  w.report("t0000", value, false, "ok", id);
  w.pump();
}
const ParameterId kFirst = std::int64_t{0}, kSecond = std::int64_t{1};

TEST_CASE("runner: an iteration that came too late to count, and was saved, is not shifted") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  report(w, 0.1, kFirst);
  pause(w);
  report(w, 0.2, kFirst);  // it has saved this one, too
  go_on(w);
  report(w, 0.3, kSecond);
  CHECK(told(w.decider) == Told{{1, "0.3"}, {2, "0.3"}});  // the missing one would be waited for
  report(w, 0.4, kSecond);
  CHECK(told(w.decider) == Told{{3, "0.4"}});
}

TEST_CASE("runner: one that a trial saved and never reported is known by its own count") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  const auto at = [](int iteration) {
    return json{{"default", iteration}, {"training_iteration", iteration}};
  };
  for (int i = 1; i <= 2; ++i) report(w, at(i), kFirst);
  pause(w);
  go_on(w);
  report(w, at(4), kSecond);
  const Told steps = told(w.decider);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].first == 2);
  CHECK(steps[1].first == 3);
}

TEST_CASE("runner: each checkpoint has the count of its own moment") {
  World w(World::limits(1, 5));
  w.backend.saves_at_once = false;
  w.ready();
  w.propose();
  w.decider.take();
  report(w, 0.1, kFirst);
  w.decider.listener->on_save("t0000");
  report(w, 0.2, kFirst);
  w.decider.listener->on_save("t0000");
  w.pump();
  const auto stored = [&](const char* id) {
    w.backend.events.push_back(CheckpointStored{"t0000", id, 10, ""});
    w.pump();
    return w.notes.saved.back().reports;
  };
  CHECK(stored("t0000-1") == 1);
  SECTION("the attempt is lost, and goes on from the first") {
    w.end("t0000", Ending::lost);
    w.pump();
    w.decider.take();
    REQUIRE(w.backend.started.at(1).checkpoint == "t0000-1");
    report(w, 0.2, kFirst);
    CHECK(told(w.decider) == Told{{1, "0.2"}});
  }
  SECTION("the second comes later") { CHECK(stored("t0000-2") == 2); }
}

TEST_CASE("runner: a number that is no iteration decides nothing") {
  RunnerOptions options = World::limits(1, 5);
  options.trial.checkpoint_frequency = 2;
  World w(options);
  w.ready();
  w.propose();
  const double bad = GENERATE(std::numeric_limits<double>::quiet_NaN(), 1e300, -1e300);
  for (int i = 1; i <= 4; ++i) {
    report(w, {{"default", 0.5}, {"training_iteration", bad}}, kFirst);
    CHECK(std::ssize(w.backend.saves) == i / 2);  // its results are counted instead
  }
}

}  // namespace attune::trial_runner_steps_test
