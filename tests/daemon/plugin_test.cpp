// Plug-ins of the daemon: how it opens them.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/support/daemon_process.h"
#include "tests/support/file_event.h"
#include "tests/support/temporary_folder.h"

namespace attune::plugin_test {

namespace fs = std::filesystem;

const std::string kSpace = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";
const std::string kProgram = ATTUNE_TEST_DATA "/../../examples/plugin_shell/random.sh";

TEST_CASE("plug-ins: a daemon that listens has them, too") {
  TemporaryFolder folder;
  const std::string socket = folder.path / "socket";
  FileEvent made(folder.path, "socket");
  DaemonProcess daemon({"--plugin", kProgram, "--tuner", "ShellRandom", "--listen", socket});
  made.wait();
  daemon.connect(socket);
  daemon.send("IN", kSpace);
  CHECK(daemon.receive() == Frame{"ID", ""});
  daemon.send("GE", "1");
  CHECK(daemon.receive()->code == "TR");
  daemon.send("TE");
  CHECK(daemon.wait() == 0);
}

TEST_CASE("plug-ins: one that fails in a resume leaves the journal for one that works") {
  TemporaryFolder folder;
  const fs::path broken = folder.path / "broken", journal = folder.path / "attuned.journal";
  const auto start = [&](const std::string& mode) {
    const std::string script = "if [ -e \"$0\" ]; then head -n 1 | \"$1\"; else exec \"$1\"; fi";
    const json command = {"sh", "-c", script, broken.string(), kProgram};
    return DaemonProcess({"--plugin", dump_json({{"command", command}}), "--tuner", "ShellRandom",
                          "--seed", "1", "--capabilities", "sync"},
                         {{"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", folder.path.string()}});
  };
  const auto ask = [](DaemonProcess& daemon) {
    daemon.send("IN", kSpace);
    daemon.send("GE", "1");
    return daemon.sync();  // ID, TR
  };
  {
    DaemonProcess daemon = start("start");
    CHECK(ask(daemon).size() == 2);
    daemon.signal(SIGKILL);
    daemon.wait();
  }
  std::ofstream(broken).put('x');
  const auto size = fs::file_size(journal);
  {
    DaemonProcess daemon = start("resume");
    CHECK(daemon.wait() == 2);
    CHECK_THAT(daemon.log(), Catch::Contains("ShellRandom: space: it has ended"));
  }
  CHECK(fs::file_size(journal) == size);
  CHECK_FALSE(fs::exists(journal.string() + ".refused"));
  fs::remove(broken);
  DaemonProcess daemon = start("resume");
  CHECK(ask(daemon).size() == 2);
  CHECK_THAT(daemon.log(), Catch::Contains("resumed from"));
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
