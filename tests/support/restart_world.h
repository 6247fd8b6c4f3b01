#pragma once
// A daemon before and after a restart, with a tuner that writes down what it hears.
#include <catch2/catch.hpp>

#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/through_text.h"
#include "tests/support/transcript_text.h"

namespace attune::restart_world {

using Lines = std::vector<std::string>;

inline const std::string kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

inline std::string metric(const std::string& type, const json& id, const std::string& job,
                          const std::string& value, int sequence = 0) {
  return dump_json({{"parameter_id", id},
                    {"trial_job_id", job},
                    {"type", type},
                    {"sequence", sequence},
                    {"value", value}});
}

inline std::string end(const std::string& job, const json& id,
                       const std::string& event = "SUCCEEDED") {
  return dump_json({{"trial_job_id", job},
                    {"event", event},
                    {"hyper_params", dump_json({{"parameter_id", id}})}});
}

// "3: 0.5, 4: 0.75": the parameter ids that were answered, with x.
inline std::string points(const std::vector<Frame>& frames) {
  std::string text;
  for (const Frame& frame : frames) {
    const json trial = parse_json(frame.payload).value();
    text += (text.empty() ? "" : ", ") + dump_json(trial.at("parameter_id")) + ": " +
            dump_json(trial.at("parameters").at("x"));
  }
  return text;
}

struct Restart {
  Restart() : before(start(first)) {
    before->send("IN", kSpace);
    first->next = 0.25;
    before->send("GE", "1");  // trial 0, A
    first->next = 0.5;
    before->send("GE", "1");  // trial 1, B
    first->next = 0.75;
    before->send("GE", "1");  // trial 2, C
    before->send("ME", metric("FINAL", 0, "A", "0.1"));
    before->send("EN", end("A", 0));
    before->send("ME", metric("PERIODICAL", 1, "B", "0.3"));
  }

  void restart() {
    after = start(second);
    REQUIRE(after->restart(through_text(before->save())));
    after->send("IN", kSpace);
    CHECK(outlines(after->take()) == "ID");
  }

  static std::unique_ptr<Stepped> start(ScriptedTuner*& tuner) {
    auto owned = std::make_unique<ScriptedTuner>();
    tuner = owned.get();
    return std::make_unique<Stepped>(std::move(owned), false, nullptr);
  }

  ScriptedTuner* first = nullptr;
  ScriptedTuner* second = nullptr;
  std::unique_ptr<Stepped> before, after;
};

}  // namespace attune::restart_world
