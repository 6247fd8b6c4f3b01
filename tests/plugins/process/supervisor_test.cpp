// The supervisor alone: what it says, and that nothing outlives it.
#include "plugins/process/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 has no extern "C" in it
}

#include <catch2/catch.hpp>

#include "os/process.h"

namespace attune::supervisor_test {

constexpr int kPatienceMs = 60'000;

// A supervisor of `sh -c script`, whose stdout can be read.
struct Supervised {
  explicit Supervised(const std::string& script) {
    int pipe[2], sockets[2];
    REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
    out = UniqueFd(pipe[0]);
    socket = UniqueFd(sockets[0]);
    const UniqueFd write(pipe[1]), theirs(sockets[1]);
    process = spawn_process({.arguments = {ATTUNED, kSupervisorCommand, "sh", "-c", script},
                             .environment = {"PATH=/usr/bin:/bin"},
                             .directory = "/",
                             .descriptors = {{1, write.get()}, {kSupervisorSocket, theirs.get()}},
                             .detached = true})
                  .value();
  }
  ~Supervised() {
    socket.reset();
    ::waitpid(process.pid, nullptr, 0);
  }

  // The next process number that the script prints.
  pid_t read_pid() const {
    std::string line;
    for (char c = 0; ::read(out.get(), &c, 1) == 1 && c != '\n';) line += c;
    return static_cast<pid_t>(std::stol(line));
  }
  ProgramEnd end() const {
    ProgramEnd end{.error = -1};
    CHECK(::recv(socket.get(), &end, sizeof end, MSG_WAITALL) == sizeof end);
    return end;
  }

  UniqueFd out, socket;
  SpawnedProcess process;
};

bool ends(const UniqueFd& pidfd) {
  pollfd waited{pidfd.get(), POLLIN, 0};
  return ::poll(&waited, 1, kPatienceMs) == 1;
}

TEST_CASE("the supervisor says how the program ended") {
  CHECK(Supervised("exit 3").end() == ProgramEnd{.code = 3});
  CHECK(Supervised("kill -TERM $$").end() == ProgramEnd{.signal = SIGTERM});
}

TEST_CASE("the supervisor ends what a program leaves behind") {
  const std::string last = GENERATE("exit 0", "kill -KILL $$");
  const Supervised supervised("sleep 3600 & echo $!; setsid sh -c 'sleep 3600 & echo $!'; " + last);
  const pid_t child = supervised.read_pid(), orphan = supervised.read_pid();
  supervised.end();
  CHECK(::kill(child, 0) != 0);
  CHECK(::kill(orphan, 0) != 0);
}

TEST_CASE("the supervisor ends all when attuned is gone") {
  // Whatever signals it gets before: only SIGKILL could stop it.
  Supervised supervised(
      "trap '' TERM INT HUP; setsid sh -c 'sleep 3600 & echo $!'; echo $$; "
      "while :; do sleep 3600; done");
  const UniqueFd orphan(::pidfd_open(supervised.read_pid(), 0));
  const UniqueFd program(::pidfd_open(supervised.read_pid(), 0));
  REQUIRE((orphan && program));
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::kill(supervised.process.pid, signal);
  supervised.socket.reset();
  CHECK(ends(orphan));
  CHECK(ends(program));
  CHECK(ends(supervised.process.pidfd));
}

TEST_CASE("a program dies with its supervisor") {
  const Supervised supervised("echo $$; while :; do sleep 3600; done");
  const UniqueFd program(::pidfd_open(supervised.read_pid(), 0));
  ::kill(supervised.process.pid, SIGKILL);
  CHECK(ends(program));
}

TEST_CASE("the program has only its own descriptors, and no signal blocked") {
  const Supervised supervised(
      "ls /proc/self/fd | wc -l; echo $((0x$(sed -n 's/SigBlk:\t//p' /proc/self/status)))");
  CHECK(supervised.read_pid() == 4);  // 0, 1, 2, and the folder that ls reads
  CHECK(supervised.read_pid() == 0);
}

}  // namespace attune::supervisor_test
