// Every recording of NNI's dispatcher, replayed against the real attuned over the channel that it
// was recorded on.
#include <catch2/catch.hpp>

#include "dispatcher/sink.h"
#include "tests/support/daemon_process.h"
#include "tests/support/file_event.h"
#include "tests/support/manager_socket.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/transcript.h"

namespace attune::binary_test {

std::vector<std::string> arguments_of(const Transcript& transcript) {
  if (transcript.exp_params.is_string())
    return {"--exp_params", transcript.exp_params.get<std::string>()};
  return DaemonProcess::exp_params(transcript.exp_params);
}

DaemonProcess start(const Transcript& transcript,
                    std::map<std::string, std::string> environment = {}) {
  for (const auto& [name, value] : transcript.environment.items()) environment[name] = value;
  return DaemonProcess(arguments_of(transcript), environment);
}

void end_input(DaemonProcess& daemon, const Transcript& transcript) {
  if (transcript.raw) daemon.write(*transcript.raw);
  if (transcript.closed) {
    daemon.close_in();
  } else if (!transcript.raw) {
    daemon.send("TE");
  }
}

void end_input(ManagerSocket& manager, const Transcript& transcript) {
  manager.send(transcript.closed ? "_bye_" : "TE");
}

// Sends everything and collects every answer, without any waiting for time to pass: a ping with a
// token comes back once all that was sent before it is handled.
template <class Manager>
std::vector<Frame> converse(Manager& manager, const Transcript& transcript) {
  std::vector<Frame> answers;
  auto collect = [&answers](std::vector<Frame> more) {
    answers.insert(answers.end(), more.begin(), more.end());
  };
  try {
    for (const Frame& command : transcript.commands) {
      manager.send(command.code, command.payload);
      collect(manager.sync());
    }
    end_input(manager, transcript);
  } catch (const std::exception& error) {
    UNSCOPED_INFO("it left early: " << error.what());  // its exit code says whether it should have
  }
  collect(manager.receive_all());
  std::erase_if(answers, [](const Frame& frame) { return frame.code == kBye; });
  return answers;
}

void check(const Expectation& expectation, const Transcript& transcript, DaemonProcess& daemon,
           const std::vector<Frame>& answers) {
  CHECK(daemon.wait() == expectation.exit);
  CHECK_THAT(mismatch(expectation, transcript, answers), Catch::Equals(""));
}

TEST_CASE("recordings of NNI's dispatcher, real daemon") {
  for (const Expectation& expectation : load_manifest()) {
    DYNAMIC_SECTION(expectation.name) {
      const Transcript transcript = load_transcript(expectation.name);
      if (transcript.channel == "pipe") {
        DaemonProcess daemon = start(transcript);
        check(expectation, transcript, daemon, converse(daemon, transcript));
      } else {
        REQUIRE((transcript.channel == "ws" || transcript.channel == "ws3"));
        ManagerSocket manager(transcript.channel == "ws" ? Dialect::v2 : Dialect::v3);
        manager.listen();
        DaemonProcess daemon = start(transcript, {{"NNI_TUNER_COMMAND_CHANNEL", manager.url()}});
        manager.accept();
        check(expectation, transcript, daemon, converse(manager, transcript));
      }
    }
  }
}

TEST_CASE("recordings of NNI's dispatcher over pipes, real daemon that listens at a socket") {
  for (const Expectation& expectation : load_manifest()) {
    const Transcript transcript = load_transcript(expectation.name);
    // With bad arguments it does not listen.
    if (transcript.channel != "pipe" || expectation.exit == kExitConfiguration) continue;
    DYNAMIC_SECTION(expectation.name) {
      const TemporaryFolder folder;
      const std::string path = folder.path / "dispatcher-pipe";
      FileEvent made(folder.path, "dispatcher-pipe");
      std::vector<std::string> arguments = arguments_of(transcript);
      arguments.insert(arguments.end(), {"--listen", path});
      std::map<std::string, std::string> environment;
      for (const auto& [name, value] : transcript.environment.items()) environment[name] = value;
      DaemonProcess daemon(arguments, environment);
      made.wait();
      daemon.connect(path);
      check(expectation, transcript, daemon, converse(daemon, transcript));
    }
  }
}

TEST_CASE("the manifest names every recording, and every recording is there") {
  for (const Expectation& expectation : load_manifest()) {
    CAPTURE(expectation.name);
    const Transcript transcript = load_transcript(expectation.name);
    CHECK_FALSE(transcript.exp_params.is_null());
    if (expectation.compare == "own") CHECK_FALSE(expectation.reason.empty());
  }
  CHECK(load_manifest().size() == ATTUNE_RECORDINGS);
}

}  // namespace attune::binary_test
