// Plug-ins of the daemon: how it opens them.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "tests/support/daemon_process.h"
#include "tests/support/file_event.h"
#include "tests/support/temporary_folder.h"

namespace attune::plugin_test {

const std::string kProgram = ATTUNE_TEST_DATA "/../../examples/plugin_shell/random.sh";

TEST_CASE("plug-ins: a daemon that listens has them, too") {
  TemporaryFolder folder;
  const std::string socket = folder.path / "socket";
  FileEvent made(folder.path, "socket");
  DaemonProcess daemon({"--plugin", kProgram, "--tuner", "ShellRandom", "--listen", socket});
  made.wait();
  daemon.connect(socket);
  daemon.send("IN", R"({"x": {"_type": "uniform", "_value": [0, 1]}})");
  CHECK(daemon.receive() == Frame{"ID", ""});
  daemon.send("GE", "1");
  CHECK(daemon.receive()->code == "TR");
  daemon.send("TE");
  CHECK(daemon.wait() == 0);
}

// A class may take minutes to be imported.
TEST_CASE("plug-ins: a signal ends a daemon that waits for one to say what it offers") {
  TemporaryFolder folder;
  const std::string started = folder.path / "started";
  FileEvent wrote(folder.path, "started", FileEvent::Kind::written);
  DaemonProcess daemon({"--plugin", "sh -c 'echo x > " + started + "; exec sleep 3600'"});
  wrote.wait();
  const int number = GENERATE(SIGTERM, SIGINT);
  daemon.signal(number);
  CHECK(daemon.wait() == 128 + number);
}

}  // namespace attune::plugin_test
