// A manager of NNI 3.0 is killed and started again: the daemon of the former one and that of the
// next one share a journal, and perhaps a port.
#include <catch2/catch.hpp>
#include <csignal>

#include "journal/place.h"
#include "tests/daemon/resume_helpers.h"
#include "tests/support/manager_socket.h"
#include "tests/support/transcript_text.h"

namespace attune::takeover_test {

std::vector<std::string> arguments() {
  return DaemonProcess::exp_params({{"tuner", {{"name", "TPE"}, {"classArgs", {{"seed", 3}}}}}});
}

std::map<std::string, std::string> environment(const Experiment& experiment,
                                               const ManagerSocket& manager,
                                               const std::string& mode) {
  return {{"NNI_MODE", mode},
          {"NNI_CHECKPOINT_DIRECTORY", experiment.folder.path.string()},
          {"NNI_TUNER_COMMAND_CHANNEL", manager.url()}};
}

// As NNI's manager, a process that starts the daemon by a shell. It can be killed alone.
DaemonProcess start_by_shell(const Experiment& experiment, const ManagerSocket& manager) {
  auto variables = environment(experiment, manager, "start");
  std::string command = ATTUNED;
  for (const std::string& argument : arguments()) command += " " + argument;
  variables["COMMAND"] = command + "; :";
  return DaemonProcess({"-c", "sh -c \"$COMMAND\"; :"}, variables, "/bin/bash");
}

// A daemon has begun a journal, and was killed.
void leave_journal(const Experiment& experiment) {
  DaemonProcess daemon(arguments(),
                       {{"NNI_CHECKPOINT_DIRECTORY", experiment.folder.path.string()}});
  daemon.send("IN", kSpace);
  REQUIRE(outlines(daemon.sync()) == "ID");
  daemon.signal(SIGKILL);
  daemon.wait();
}

void initialize(ManagerSocket& manager) {
  manager.accept();
  manager.send("IN", kSpace);
  REQUIRE(outlines(manager.sync()) == "ID");
}

// A daemon that is connected, and waits for the journal, which `other` has.
struct Waiting {
  Waiting() {
    leave_journal(experiment);
    other = open_locked(real_files(), experiment.file(), false).value();
    manager.listen();
    daemon.emplace(arguments(), environment(experiment, manager, "resume"));
    manager.accept();
  }
  int terminate() {
    manager.send("TE");
    return daemon->wait();
  }

  const Experiment experiment;
  UniqueFd other;
  ManagerSocket manager{Dialect::v3};
  std::optional<DaemonProcess> daemon;
};

TEST_CASE("a daemon connects while another process has the journal, and goes on when it is free") {
  Waiting w;
  w.manager.send("IN", kSpace);
  CHECK(w.manager.ping() == 0);
  w.other.reset();
  CHECK(outlines(w.manager.sync()) == "ID");
  CHECK(w.terminate() == 0);
}

TEST_CASE("a daemon whose manager was killed ends, and leaves the port and journal to the next") {
  const Experiment experiment;
  ManagerSocket before(Dialect::v3);
  before.listen();
  DaemonProcess manager = start_by_shell(experiment, before);
  initialize(before);
  before.send("GE", "2");
  REQUIRE(outlines(before.sync()) == "TR 0, TR 1");
  manager.signal(SIGKILL);
  manager.wait();

  ManagerSocket after(Dialect::v3);
  after.listen();
  DaemonProcess next(arguments(), environment(experiment, after, "resume"));
  after.accept();  // while the former daemon has the journal
  after.send("IN", kSpace);
  CHECK(after.ping() == 0);
  before.drop();                         // whoever listens at this port now is another manager
  CHECK(manager.receive_all().empty());  // the daemon and its shell have ended
  CHECK_FALSE(before.has_client());
  CHECK_THAT(manager.log(), Catch::Contains("the process of the manager has ended"));

  CHECK(outlines(after.sync()) == "ID");
  after.send("GE", "1");
  CHECK(outlines(after.sync()) == "TR 2");
  after.send("TE");
  CHECK(next.wait() == 0);
}

TEST_CASE("a daemon that stays connected after a failure leaves the journal to the next") {
  const Experiment experiment;
  ManagerSocket manager(Dialect::v2);
  manager.listen();
  DaemonProcess daemon(arguments(), environment(experiment, manager, "start"));
  initialize(manager);
  daemon.signal(SIGTERM);
  const auto frame = manager.receive();
  REQUIRE(frame);
  CHECK(frame->code == "ER");
  DaemonProcess next(arguments(), {{"NNI_MODE", "resume"},
                                   {"NNI_CHECKPOINT_DIRECTORY", experiment.folder.path.string()}});
  next.send("IN", kSpace);
  CHECK(outlines(next.sync()) == "ID");
  manager.send("TE");
  CHECK(daemon.wait() == 0);
}

TEST_CASE("a signal ends a daemon that waits for the journal") {
  Waiting w;
  w.daemon->signal(SIGTERM);
  w.manager.send("IN", kSpace);
  const auto frame = w.manager.receive();
  REQUIRE(frame);
  CHECK(frame->code == "ER");
  CHECK(w.terminate() == 0);
}

}  // namespace attune::takeover_test
