// Every recording of NNI's dispatcher, replayed against the real attuned over pipes.
#include <catch2/catch.hpp>

#include "tests/support/daemon_process.h"
#include "tests/support/transcript.h"

namespace attune {
namespace {

DaemonProcess start(const Transcript& transcript) {
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : transcript.environment.items()) environment[name] = value;
  if (transcript.exp_params.is_string()) {
    return DaemonProcess({"--exp_params", transcript.exp_params.get<std::string>()}, environment);
  }
  return DaemonProcess(DaemonProcess::exp_params(transcript.exp_params), environment);
}

// Sends everything and collects every answer, without any waiting for time to pass: a ping with a
// token comes back once all that was sent before it is handled.
std::vector<Frame> converse(DaemonProcess& daemon, const Transcript& transcript) {
  std::vector<Frame> answers;
  auto collect = [&answers](std::vector<Frame> more) {
    answers.insert(answers.end(), more.begin(), more.end());
  };
  try {
    for (const Frame& command : transcript.commands) {
      daemon.send(command.code, command.payload);
      collect(daemon.sync());
    }
    if (transcript.raw) daemon.write(*transcript.raw);
    if (transcript.closed) {
      daemon.close_in();
    } else if (!transcript.raw) {
      daemon.send("TE");
    }
  } catch (const std::exception&) {
    // It left early; its exit code says whether it should have.
  }
  collect(daemon.receive_all());
  return answers;
}

TEST_CASE("recordings of NNI's dispatcher, real daemon") {
  for (const Expectation& expectation : load_manifest()) {
    if (expectation.compare == "waits") continue;
    DYNAMIC_SECTION(expectation.name) {
      const Transcript transcript = load_transcript(expectation.name);
      DaemonProcess daemon = start(transcript);
      const auto answers = converse(daemon, transcript);
      CHECK(daemon.wait() == expectation.exit);
      CHECK(mismatch(expectation, transcript, answers) == "");
    }
  }
}

TEST_CASE("the manifest names every recording, and every recording is there") {
  std::size_t waiting = 0;
  for (const Expectation& expectation : load_manifest()) {
    CAPTURE(expectation.name);
    const Transcript transcript = load_transcript(expectation.name);
    CHECK_FALSE(transcript.exp_params.is_null());
    if (expectation.compare == "own" || expectation.compare == "waits") {
      CHECK_FALSE(expectation.reason.empty());
    }
    waiting += expectation.compare == "waits";
  }
  CHECK(load_manifest().size() == ATTUNE_RECORDINGS);
  CHECK(waiting < load_manifest().size());
}

}  // namespace
}  // namespace attune
