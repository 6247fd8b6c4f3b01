#pragma once
// A daemon whose assessor pauses trials, with three of them started.
#include <catch2/catch.hpp>

#include "tests/support/exact_state.h"
#include "tests/support/scripted_assessor.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/through_text.h"
#include "tests/support/transcript_text.h"

namespace attune::assessor_pause {

using exact_state::end;
using exact_state::metric;
using Lines = std::vector<std::string>;

inline constexpr const char* kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

struct World {
  explicit World(bool capable = true) {
    options.capabilities = {.sync = true, .reason = true};
    options.capabilities.pause = options.capabilities.checkpoint = capable;
    options.wants_reports = true;
    daemon = start();
    daemon->send("IN", kSpace);
    daemon->send("GE", "3");  // trials 0, 1 and 2: jobs A, B and C
    daemon->take();
  }
  std::unique_ptr<Stepped> start() {
    auto owned_tuner = std::make_unique<ScriptedTuner>();
    auto owned_assessor = std::make_unique<ScriptedAssessor>();
    tuner = owned_tuner.get();
    assessor = owned_assessor.get();
    assessor->action = Action::pause;
    return std::make_unique<Stepped>(std::move(owned_tuner), false, std::move(owned_assessor),
                                     options);
  }
  void send(const Frame& frame) { daemon->send(frame.code, frame.payload); }
  void report(const json& id, const std::string& job, double value = 1, int step = 0) {
    send(metric("PERIODICAL", id, job, dump_json(value), step));
  }
  // The assessor pauses the trial at its next report, and the manager does so.
  void pause(const json& id, const std::string& job, int step = 0) {
    report(id, job, -1, step);
    const bool can = options.capabilities.pause;
    CHECK(said() == (can ? "PA " : "KI ") + job);
    send(end(job, id, can ? "PAUSED" : "EARLY_STOPPED"));
  }
  std::string ask(int count, std::deque<std::string> script = {}) {
    tuner->script = std::move(script);
    daemon->send("GE", std::to_string(count));
    return said();
  }
  // Another daemon goes on from what this one saved.
  void load() {
    const json state = through_text(daemon->save());
    daemon = start();
    REQUIRE(daemon->load(state).has_value());
    REQUIRE(dump_json(daemon->save()) == dump_json(state));
  }
  // The same for a manager that starts anew.
  void restart() {
    const json state = through_text(daemon->save());
    daemon = start();
    REQUIRE(daemon->restart(state).has_value());
    daemon->send("IN", kSpace);
    daemon->take();
  }
  std::string said() { return outlines(daemon->take()); }

  DispatcherOptions options;
  ScriptedTuner* tuner = nullptr;
  ScriptedAssessor* assessor = nullptr;
  std::unique_ptr<Stepped> daemon;
};

}  // namespace attune::assessor_pause
