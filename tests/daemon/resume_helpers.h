#pragma once
// An experiment whose daemon is ended or killed, for the tests of what the next one does.
#include "protocol/codec.h"
#include "tests/support/daemon_process.h"
#include "tests/support/temporary_folder.h"

#include <catch2/catch.hpp>
#include <csignal>

namespace attune {

inline const std::string kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

// A directory for the journal that both daemons use.
struct Experiment {
  DaemonProcess start(const std::string& mode,
                      json tuner = {{"name", "TPE"}, {"classArgs", {{"seed", 3}}}},
                      const json& shared = {}) const {
    json experiment = {{"tuner", std::move(tuner)}, {"assessor", {{"name", "Medianstop"}}}};
    if (!shared.is_null()) experiment["resume"] = shared;
    return DaemonProcess(DaemonProcess::exp_params(experiment),
                         {{"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", folder.path.string()}});
  }
  DaemonProcess go_on(int received) const {
    return start("resume", {{"name", "TPE"}, {"classArgs", {{"seed", 3}}}},
                 {{"received", received}});
  }
  std::string file() const { return (folder.path / "attuned.journal").string(); }

  TemporaryFolder folder;
};

inline std::string metric(int id, const std::string& value, const std::string& type = "FINAL") {
  return dump_json({{"parameter_id", id},
                    {"trial_job_id", "T" + std::to_string(id)},
                    {"type", type},
                    {"sequence", 0},
                    {"value", value}});
}
inline std::string intermediate(int id, const std::string& value) {
  return metric(id, value, "PERIODICAL");
}

inline std::string end(int id, const std::string& event = "SUCCEEDED") {
  return dump_json({{"trial_job_id", "T" + std::to_string(id)},
                    {"event", event},
                    {"hyper_params", dump_json({{"parameter_id", id}})}});
}

// `count` trials, one after the other, each with a result; perhaps first put off by a disk that
// fails.
inline void run_trials(DaemonProcess& daemon, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    daemon.send("GE", "1");
    daemon.send("ME", metric(i, std::to_string(i * 7 % 11)));
    daemon.send("EN", end(i));
  }
  auto frames = daemon.sync();
  std::erase_if(frames, [](const Frame& frame) { return frame.code == "NO"; });
  REQUIRE(frames.size() == std::size_t(count));
}

// A first daemon that is asked for `trials`, and killed when they have left. What it answered.
inline std::vector<Frame> run_and_kill(const Experiment& experiment, int trials) {
  DaemonProcess daemon = experiment.start("start");
  daemon.send("IN", kSpace);
  if (trials > 0) daemon.send("GE", std::to_string(trials));
  auto answers = daemon.sync();
  daemon.signal(SIGKILL);
  daemon.wait();
  return answers;
}

inline std::string next_trial(DaemonProcess& daemon) {
  daemon.send("GE", "1");
  const auto frames = daemon.sync();
  return frames.size() == 1 ? frames[0].payload : "";
}

}  // namespace attune
