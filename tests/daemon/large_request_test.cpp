// The real daemon, killed in the middle of a large request; and what its manager says while the
// next one replays.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "os/atomic_file.h"
#include "tests/daemon/resume_helpers.h"
#include "tests/support/file_event.h"
#include "tests/support/gated_tuner.h"
#include "tests/support/transcript_text.h"

namespace attune::large_request_test {

json tuner_of(const std::string& name) { return {{"name", name}, {"classArgs", {{"seed", 3}}}}; }

// The first `count` answers.
std::vector<Frame> receive(DaemonProcess& daemon, std::size_t count) {
  std::vector<Frame> answers;
  while (answers.size() < count) {
    auto frame = daemon.receive();
    REQUIRE(frame);
    answers.push_back(*std::move(frame));
  }
  return answers;
}

TEST_CASE("large requests: killed anywhere in one, the next daemon goes on with it") {
  const auto [tuner, asked] =
      GENERATE(table<std::string, std::size_t>({{"Random", 5000}, {"TPE", 400}}));
  CAPTURE(tuner);
  std::vector<Frame> whole;  // what a daemon says that nothing happens to
  {
    const Experiment experiment;
    DaemonProcess daemon = experiment.start("start", tuner_of(tuner));
    daemon.send("IN", kSpace);
    daemon.send("GE", std::to_string(asked));
    daemon.send("ME", metric(2, "0.5"));
    daemon.send("GE", "3");
    whole = daemon.sync();
  }
  REQUIRE(whole.size() == 1 + asked + 3);
  const Experiment experiment;
  std::vector<Frame> said;
  for (const std::size_t until : {std::size_t{0}, asked / 50, asked / 4, asked / 2, asked - 1}) {
    CAPTURE(until, said.size());
    if (said.size() == whole.size() - 1) break;  // it was quicker than we are
    std::optional<DaemonProcess> daemon;
    if (until == 0) {
      daemon.emplace(DaemonProcess::exp_params(
                         {{"tuner", tuner_of(tuner)}, {"assessor", {{"name", "Medianstop"}}}}),
                     std::map<std::string, std::string>{
                         {"NNI_CHECKPOINT_DIRECTORY", experiment.folder.path.string()}});
      daemon->send("IN", kSpace);
      CHECK(daemon->receive() == whole[0]);
      daemon->send("GE", std::to_string(asked));
      daemon->send("ME", metric(2, "0.5"));
      daemon->send("GE", "3");
    } else {
      daemon.emplace(DaemonProcess::exp_params({{"tuner", tuner_of(tuner)},
                                                {"assessor", {{"name", "Medianstop"}}},
                                                {"resume", {{"received", said.size()}}}}),
                     std::map<std::string, std::string>{
                         {"NNI_MODE", "resume"},
                         {"NNI_CHECKPOINT_DIRECTORY", experiment.folder.path.string()}});
      daemon->send("IN", kSpace);
      CHECK(daemon->receive() == Frame{"ID", R"({"through":3})"});
    }
    const std::size_t more = std::max(until, said.size() + 1) - said.size();
    for (Frame& frame : receive(*daemon, more)) said.push_back(std::move(frame));
    daemon->signal(SIGKILL);
    daemon->wait();
    for (Frame& frame : daemon->receive_all()) said.push_back(std::move(frame));
  }
  DaemonProcess last = experiment.start("resume", tuner_of(tuner), {{"received", said.size()}});
  last.send("IN", kSpace);
  CHECK(last.receive() == Frame{"ID", R"({"through":3})"});
  for (Frame& frame : last.sync()) said.push_back(std::move(frame));
  CHECK(said == std::vector<Frame>(whole.begin() + 1, whole.end()));
}

// A daemon whose tuner stops at a gate, in a journal that another one has begun.
struct Gated {
  DaemonProcess start(const std::string& mode, const json& shared = {}) {
    json experiment = {{"tuner", {{"name", "Gated"}, {"classArgs", {{"gate", gate.path()}}}}}};
    if (!shared.is_null()) experiment["resume"] = shared;
    return DaemonProcess(DaemonProcess::exp_params(experiment),
                         {{"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", folder.path.string()}},
                         HALVING_DAEMON);
  }
  // Killed when 20 trials of a request for 100 have left. How many came in all.
  std::size_t leave_journal() {
    DaemonProcess daemon = start("start");
    daemon.send("IN", kSpace);
    daemon.send("GE", "100");
    receive(daemon, 1 + 20);
    daemon.signal(SIGKILL);
    daemon.wait();
    return 20 + daemon.receive_all().size();
  }
  // It replays when gate.await() returns.
  DaemonProcess replay(std::size_t received) {
    gate.shut();
    return start("resume", {{"received", received}});
  }
  std::string journal() const { return read_file(folder.path / "attuned.journal").value(); }

  TemporaryFolder folder;
  Gate gate{(folder.path / "gate").string()};
};

TEST_CASE("large requests: ID does not wait for what the journal does not have") {
  Gated world;
  {
    DaemonProcess daemon = world.start("start");
    daemon.send("IN", kSpace);
    daemon.receive();
    world.gate.shut();
    FileEvent written(world.folder.path, "attuned.journal", FileEvent::Kind::written);
    daemon.send("GE", "100");
    world.gate.await();
    // The tuner's thread may be at the gate before the io thread writes the record.
    while (!world.journal().contains("GE100")) written.wait();
    daemon.signal(SIGKILL);
    daemon.wait();
    world.gate.open();
  }
  world.gate.shut();  // nobody opens it before ID
  DaemonProcess daemon = world.start("resume", {{"received", 0}});
  daemon.send("IN", kSpace);
  REQUIRE(daemon.receive() == Frame{"ID", R"({"through":1})"});
  daemon.send("PI", "all");
  world.gate.await();
  world.gate.open();
  CHECK(receive(daemon, 101).back() == Frame{"PO", "all"});
}

TEST_CASE("while replaying: Terminate, a signal and the end of input end it, and nothing is lost") {
  Gated world;
  const std::size_t received = world.leave_journal();
  const std::string how = GENERATE("TE", "IN TE", "SIGTERM", "SIGINT", "end of input");
  CAPTURE(how);
  {
    DaemonProcess daemon = world.replay(received);
    world.gate.await();
    if (how == "IN TE") daemon.send("IN", kSpace);
    if (how.ends_with("TE")) daemon.send("TE");
    if (how == "SIGTERM") daemon.signal(SIGTERM);
    if (how == "SIGINT") daemon.signal(SIGINT);
    if (how == "end of input") daemon.close_in();
    CHECK(daemon.wait() == 0);
    CHECK(daemon.receive_all().empty());
    world.gate.open();
  }
  DaemonProcess daemon = world.start("resume", {{"received", received}});
  daemon.send("IN", kSpace);
  CHECK(daemon.receive() == Frame{"ID", R"({"through":1})"});
  CHECK(receive(daemon, 100 - received).size() == 100 - received);
}

TEST_CASE("while replaying: what the manager says is handled after ID, in its order") {
  Gated world;
  const std::size_t received = world.leave_journal();
  DaemonProcess daemon = world.replay(received);
  world.gate.await();
  daemon.send("IN", kSpace);
  for (int i = 0; i < 3; ++i) daemon.send("GE", "1");
  daemon.send("PI", "all");
  world.gate.open();
  CHECK(daemon.receive() == Frame{"ID", R"({"through":1})"});
  receive(daemon, 100 - received);
  CHECK(outlines(receive(daemon, 4)) == "TR 100, TR 101, TR 102, PO");
  daemon.send("TE");
  CHECK(daemon.wait() == 0);
}

TEST_CASE("while replaying: Terminate that comes in time for ID is one like any other") {
  Gated world;
  const std::size_t received = world.leave_journal();
  DaemonProcess daemon = world.start("resume", {{"received", received}});
  daemon.send("IN", kSpace);
  daemon.send("PI", "heard");
  daemon.send("TE");
  CHECK(daemon.wait() == 0);
}

TEST_CASE("large requests: one before IN waits for it, also across a kill") {
  const Experiment experiment;
  {
    DaemonProcess daemon = experiment.start("start", tuner_of("Random"));
    daemon.send("GE", "3000");
    daemon.send("IN", kSpace);
    const auto answers = receive(daemon, 1 + 100);
    CHECK(answers[0].code == "ID");
    daemon.signal(SIGKILL);
    daemon.wait();
  }
  DaemonProcess daemon = experiment.start("resume", tuner_of("Random"), {{"received", 0}});
  daemon.send("IN", kSpace);
  CHECK(daemon.receive() == Frame{"ID", R"({"through":1})"});
  const auto answers = receive(daemon, 3000);
  CHECK(outlines({answers.front(), answers.back()}) == "TR 0, TR 2999");
}

}  // namespace attune::large_request_test
