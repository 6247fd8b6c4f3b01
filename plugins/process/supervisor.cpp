#include "plugins/process/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iterator>

#include "os/process_tree.h"
#include "os/unique_fd.h"

namespace attune {
namespace {

// How long to wait for killed processes to end before /proc is read again: one may have been forked
// just when it was read.
constexpr int kSweepMs = 50;

// The new program is running, or `error` tells why it could not be started.
struct Started {
  pid_t pid = -1;
  int error = 0;
};

[[noreturn]] void become(char* const* arguments, pid_t supervisor, int failure) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(1);  // it has died before the signal was asked for
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvp(arguments[0], arguments);
  const int error = errno;
  (void)!::write(failure, &error, sizeof error);
  ::_exit(127);
}

Started start(char* const* arguments) {
  int failure[2];
  if (::pipe2(failure, O_CLOEXEC) != 0) return {.error = errno};
  const UniqueFd read_end(failure[0]);
  UniqueFd write_end(failure[1]);
  const pid_t supervisor = ::getpid();
  Started started{.pid = ::fork()};
  if (started.pid == 0) become(arguments, supervisor, write_end.get());
  if (started.pid < 0) return {.error = errno};
  write_end.reset();
  // Its end is closed by execve(), or by the end of the child.
  if (::read(read_end.get(), &started.error, sizeof started.error) <= 0) started.error = 0;
  return started;
}

// Closes the program's descriptors in this process. The numbers stay taken, so that no later one
// gets them.
void let_go_of_streams() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2; ++fd) {
    if (null < 0 || ::dup2(null, fd) < 0) ::close(fd);
  }
  if (null > 2) ::close(null);
}

class Supervisor {
 public:
  Supervisor(pid_t program, int signals) : program_(program), signals_(signals) {}

  // Returns when no process is left, or only such as belong to other users.
  ProgramEnd run() {
    while (reap() && !ended_) {
      pollfd waited[] = {{signals_, POLLIN, 0}, {kSupervisorSocket, POLLIN, 0}};
      ::poll(waited, std::size(waited), -1);
      forget_signals();
      // Nobody writes to this socket: readable is its end.
      if (waited[1].revents != 0) break;
    }
    // What has ended by itself meanwhile is not said to be killed.
    while (reap()) {
      const Killing killing = kill_descendants(::getpid());
      if (killing.killed == 0 && killing.forbidden > 0) break;
      pollfd waited{signals_, POLLIN, 0};
      ::poll(&waited, 1, kSweepMs);
      forget_signals();
    }
    return end_;
  }

 private:
  // Returns whether there are children.
  bool reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid != program_) continue;
      ended_ = true;
      if (WIFEXITED(status)) end_.code = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
    }
    return pid == 0;
  }

  void forget_signals() const {
    signalfd_siginfo info;
    while (::read(signals_, &info, sizeof info) > 0) {
    }
  }

  const pid_t program_;
  const int signals_;
  bool ended_ = false;
  ProgramEnd end_;
};

}  // namespace

int supervise_plugin(char* const* arguments) {
  int type = 0;
  socklen_t size = sizeof type;
  if (arguments[0] == nullptr ||
      ::getsockopt(kSupervisorSocket, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    std::fprintf(stderr, "attuned %s is started by attuned, not by hand\n", kSupervisorCommand);
    return 2;
  }
  ::prctl(PR_SET_NAME, "attuned-plugin");
  ::fcntl(kSupervisorSocket, F_SETFD, FD_CLOEXEC);
  sigset_t all, children;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  const UniqueFd signals(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  ProgramEnd end{.error = errno};
  if (signals && ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0) {
    const Started started = start(arguments);
    let_go_of_streams();
    if (started.pid > 0) end = Supervisor(started.pid, signals.get()).run();
    end.error = started.error;
  }
  // Attuned may be gone.
  (void)!::send(kSupervisorSocket, &end, sizeof end, MSG_NOSIGNAL);
  return 0;
}

}  // namespace attune
