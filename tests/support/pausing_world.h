#pragma once
// A scripted tuner behind a stepped dispatcher, with two trials that have reported: 0 as job A and
// 1 as job B. For tests of pauses and checkpoints.
#include <catch2/catch.hpp>

#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/through_text.h"
#include "tests/support/transcript_text.h"

namespace attune::pausing_world {

using Lines = std::vector<std::string>;

inline constexpr const char* kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

inline DispatcherOptions capable() {
  DispatcherOptions options;
  options.capabilities = {.sync = true, .pause = true, .checkpoint = true, .reason = true};
  options.wants_reports = true;
  return options;
}
inline DispatcherOptions plain() {
  DispatcherOptions options;
  options.wants_reports = true;
  return options;
}

struct PausingWorld {
  explicit PausingWorld(DispatcherOptions options_ = capable(), Log log_ = {})
      : options(options_), log(std::move(log_)) {
    daemon = start(tuner);
    daemon->send("IN", kSpace);
    daemon->send("GE", "2");  // trials 0 and 1, jobs A and B
    report(0, "A");
    report(1, "B");
    daemon->take();
  }
  std::unique_ptr<Stepped> start(ScriptedTuner*& made) const {
    auto owned = std::make_unique<ScriptedTuner>();
    made = owned.get();
    return std::make_unique<Stepped>(std::move(owned), false, nullptr, options, log);
  }
  // Another daemon goes on from what this one saved.
  void restart() {
    const json state = through_text(daemon->save());
    daemon = start(tuner);
    REQUIRE(daemon->restart(state).has_value());
    daemon->send("IN", kSpace);
    daemon->take();
  }

  void report(const json& id, const std::string& job, const std::string& value = "0.5") {
    metric("PERIODICAL", id, job, value);
  }
  void metric(const std::string& type, const json& id, const std::string& job,
              const std::string& value) {
    daemon->send("ME", dump_json({{"parameter_id", id},
                                  {"trial_job_id", job},
                                  {"type", type},
                                  {"sequence", 0},
                                  {"value", value}}));
  }
  void end(const std::string& job, const json& id, const std::string& event = "SUCCEEDED",
           const std::string& checkpoint = "") {
    json payload = {{"trial_job_id", job},
                    {"event", event},
                    {"hyper_params", dump_json({{"parameter_id", id}})}};
    if (!checkpoint.empty()) payload["checkpoint"] = checkpoint;
    daemon->send("EN", dump_json(payload));
  }
  void saved(const std::string& job, const std::string& checkpoint) {
    daemon->send("CK", dump_json({{"trial_job_id", job}, {"checkpoint", checkpoint}}));
  }
  // The tuner decides this on the next report, which comes from trial 1.
  void decide(TrialId trial, Action action) {
    tuner->decisions = {{trial, action, "rung"}};
    report(1, "B");
  }
  std::string said() { return outlines(daemon->take()); }

  const DispatcherOptions options;
  const Log log;
  ScriptedTuner* tuner = nullptr;
  std::unique_ptr<Stepped> daemon;
};

}  // namespace attune::pausing_world
