// attuned --listen: the manager connects to a socket, as NNI 2.7 with --dispatcher-pipe.
#include "daemon/accept_manager.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "dispatcher/sink.h"
#include "tests/support/daemon_process.h"
#include "tests/support/file_event.h"
#include "tests/support/temporary_folder.h"

namespace attune::accept_manager_test {

using Catch::Contains;
namespace fs = std::filesystem;

constexpr const char* kSpace = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";

// A daemon that listens at a socket in a folder of its own.
struct Listening {
  explicit Listening(const std::vector<std::string>& more = {}) {
    FileEvent made(folder.path, "socket");
    start(more);
    made.wait();
  }
  void start(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--tuner", "Random", "--seed", "1", "--listen", path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    daemon.emplace(arguments);
  }
  std::string path() const { return folder.path / "socket"; }
  bool is_there() const { return fs::exists(fs::symlink_status(path())); }

  TemporaryFolder folder;
  std::optional<DaemonProcess> daemon;
};

// What a daemon says that cannot listen at `path`.
std::string refused(const std::string& path, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"--listen", path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  DaemonProcess daemon(arguments);
  CHECK(daemon.wait() == kExitConfiguration);
  return daemon.log();
}

TEST_CASE("listen: one connection carries commands and answers, until its end") {
  Listening one;
  DaemonProcess& daemon = *one.daemon;
  struct stat status{};
  REQUIRE(::stat(one.path().c_str(), &status) == 0);
  CHECK(S_ISSOCK(status.st_mode));
  CHECK((status.st_mode & 07777) == 0600);
  daemon.connect(one.path());
  daemon.send("IN", kSpace);
  CHECK(daemon.receive() == Frame{"ID", ""});
  // For one manager only: a second one is refused at once.
  CHECK_FALSE(one.is_there());
  CHECK_THROWS_WITH(daemon.connect(one.path()), Contains("No such file or directory"));
  daemon.send("GE", "2");
  CHECK(daemon.receive()->code == "TR");
  CHECK(daemon.receive()->code == "TR");
  SECTION("NNI 2.7 closes it without Terminate") { daemon.close_in(); }
  SECTION("Terminate") { daemon.send("TE"); }
  CHECK(daemon.receive_all().empty());
  CHECK(daemon.wait() == kExitOk);
}

TEST_CASE("listen: the experiment is resumed over another socket") {
  TemporaryFolder kept;
  const std::string directory = kept.path;
  for (const char* id : {"\"parameter_id\":0", "\"parameter_id\":1"}) {
    std::vector<std::string> more = {"--checkpoint-dir", directory};
    if (fs::exists(kept.path / "attuned.journal")) more.emplace_back("--resume");
    Listening one(more);
    DaemonProcess& daemon = *one.daemon;
    daemon.connect(one.path());
    daemon.send("IN", kSpace);
    CHECK(daemon.receive()->code == "ID");
    if (more.size() > 2) daemon.send("FD", "[]");
    daemon.send("GE", "1");
    CHECK_THAT(daemon.receive()->payload, Contains(id));
    daemon.close_in();
    CHECK(daemon.wait() == kExitOk);
  }
}

TEST_CASE("listen: a plain manager notices a failure by a command that nobody reads") {
  Listening one;
  DaemonProcess& daemon = *one.daemon;
  daemon.connect(one.path());
  daemon.send("IN", R"({"x": {"_type": "quarks", "_value": [0, 1]}})");
  daemon.send("PI");
  CHECK(daemon.wait() == kExitConfiguration);
  CHECK_THROWS(daemon.write("PI00000000000000"));
}

TEST_CASE("listen: a signal ends the waiting, and nothing is left") {
  Listening one;
  one.daemon->signal(GENERATE(SIGTERM, SIGINT));
  CHECK(one.daemon->wait() == kExitOk);
  CHECK(fs::is_empty(one.folder.path));
}

TEST_CASE("listen: the socket of a killed daemon is replaced, that of a living one is not") {
  Listening one;
  CHECK_THAT(refused(one.path()), Contains(one.path() + ": another program listens there; end it"));
  SECTION("the living one has noticed nothing") {}
  SECTION("it is killed") {
    one.daemon->signal(SIGKILL);
    one.daemon->wait();
    CHECK(one.is_there());
    FileEvent made(one.folder.path, "socket");
    one.start({});
    made.wait();
  }
  one.daemon->connect(one.path());
  one.daemon->send("IN", kSpace);
  CHECK(one.daemon->receive() == Frame{"ID", ""});
}

TEST_CASE("listen: places where no socket can be") {
  TemporaryFolder folder;
  SECTION("a file is there, and stays") {
    const std::string path = folder.path / "file";
    std::ofstream(path) << "mine";
    CHECK_THAT(refused(path), Contains(path + ": there is a file that is no socket"));
    CHECK(fs::file_size(path) == 4);
  }
  SECTION("no folder") {
    CHECK_THAT(refused(folder.path / "none/socket"), Contains("No such file or directory"));
  }
  SECTION("too long") {
    const std::string path = folder.path / std::string(200, 'x');
    CHECK_THAT(refused(path), Contains("bytes, and may have 103; name a shorter one"));
  }
  SECTION("others may replace it") {
    fs::permissions(folder.path, fs::perms::all);
    CHECK_THAT(refused(folder.path / "socket"), Contains("can be written by other users"));
    CHECK(fs::is_empty(folder.path));
  }
}

TEST_CASE("listen: what is wrong with the arguments is said before anybody connects") {
  TemporaryFolder folder;
  const std::string path = folder.path / "socket";
  CHECK_THAT(refused(path, {"--tuner", "TPE", "--tuner-args", R"({"gamma": 1})"}),
             Contains("gamma"));
  CHECK_THAT(refused(path, {"--exp_params", "e30=", "--tuner", "Quark"}), Contains("Quark"));
  CHECK(fs::is_empty(folder.path));
}

TEST_CASE("listen: a connection of another user is refused, and the daemon waits on") {
  if (::geteuid() != 0) return;  // only root can be another user
  constexpr uid_t kNobody = 65534;
  Listening one;
  // As if the user had opened both.
  REQUIRE(::chmod(one.folder.path.c_str(), 0711) == 0);
  REQUIRE(::chmod(one.path().c_str(), 0666) == 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  one.path().copy(address.sun_path, sizeof address.sun_path - 1);
  const pid_t other = ::fork();
  if (other == 0) {
    char byte = 0;
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const bool connects = ::setuid(kNobody) == 0 &&
                          ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::_exit(connects && ::read(fd, &byte, 1) == 0 ? 0 : 1);  // the end of the connection
  }
  int ended = -1;
  REQUIRE(::waitpid(other, &ended, 0) == other);
  CHECK(ended == 0);
  one.daemon->connect(one.path());
  one.daemon->send("IN", kSpace);
  CHECK(one.daemon->receive() == Frame{"ID", ""});
  CHECK_THAT(one.daemon->log(), Contains("runs as another user (65534)"));
}

}  // namespace attune::accept_manager_test
