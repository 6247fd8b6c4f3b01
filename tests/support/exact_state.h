#pragma once
// A daemon that is saved and loaded anywhere gives byte for byte the answers that it would have
// given without.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/stepped.h"

namespace attune::exact_state {

using Script = std::vector<Frame>;
using Start = std::function<std::unique_ptr<Stepped>()>;

inline Frame metric(const std::string& type, const json& id, const std::string& job,
                    const std::string& value, std::int64_t sequence = 0) {
  return {"ME", dump_json({{"parameter_id", id},
                           {"trial_job_id", job},
                           {"type", type},
                           {"sequence", sequence},
                           {"parameter_index", 1},
                           {"value", value}})};
}
inline Frame end(const std::string& job, const json& id, const std::string& event = "SUCCEEDED",
                 const std::string& checkpoint = "") {
  json payload = {
      {"trial_job_id", job}, {"event", event}, {"hyper_params", dump_json({{"parameter_id", id}})}};
  if (!checkpoint.empty()) payload["checkpoint"] = checkpoint;
  return {"EN", dump_json(payload)};
}
inline Frame checkpoint(const std::string& job, const std::string& id) {
  return {"CK", dump_json({{"trial_job_id", job}, {"checkpoint", id}})};
}

inline std::string text_of(const std::vector<Frame>& frames) {
  std::string text;
  for (const Frame& frame : frames) text += frame.code + frame.payload + "\n";
  return text;
}

inline std::string answer(Stepped& daemon, const Frame& command) {
  daemon.send(command.code, command.payload);
  return text_of(daemon.take());
}

// At every position of the script: saved, loaded into a fresh daemon, and gone on with the rest.
// Returns the answers.
inline std::string check_everywhere(const Start& start, const Script& script) {
  std::vector<std::string> answers, states;
  const auto undisturbed = start();
  const auto saving = start();
  for (const Frame& command : script) {
    const json state = saving->save();
    states.push_back(dump_json(state));
    REQUIRE(dump_json(saving->save()) == states.back());  // saving changes nothing
    answers.push_back(answer(*undisturbed, command));
    REQUIRE(answer(*saving, command) == answers.back());
  }
  const std::string last = dump_json(saving->save());
  for (std::size_t from = 0; from < script.size(); ++from) {
    CAPTURE(from, script[from].code, script[from].payload);
    const auto loaded = start();
    REQUIRE(loaded->load(parse_json(states[from]).value()).has_value());
    REQUIRE(dump_json(loaded->save()) == states[from]);
    for (std::size_t i = from; i < script.size(); ++i) {
      INFO("command " << i << ": " << script[i].code << script[i].payload);
      REQUIRE(answer(*loaded, script[i]) == answers[i]);
    }
    REQUIRE(dump_json(loaded->save()) == last);
  }
  std::string all;
  for (const std::string& one : answers) all += one;
  return all;
}

}  // namespace attune::exact_state
