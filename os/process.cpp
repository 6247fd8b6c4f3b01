#include "os/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 has no extern "C" in it
}

#include <algorithm>

#include "base/check.h"

namespace attune {
namespace {

std::vector<char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// What the child does between fork and exec.
class FileActions {
 public:
  FileActions() { note(posix_spawn_file_actions_init(&actions_)); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

  Result<void> add(const ProcessSpec& spec) {
    note(posix_spawn_file_actions_addchdir_np(&actions_, spec.directory.c_str()));
    int last = 2;
    for (int fd = 0; fd <= 2; ++fd) {
      note(posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null",
                                            fd == 0 ? O_RDONLY : O_WRONLY, 0));
    }
    for (const auto& [target, source] : spec.descriptors) {
      last = std::max(last, target);
      // Copies have numbers from 20, above all targets, so that no dup2 overwrites the source of a
      // later one.
      copies_.emplace_back(::fcntl(source, F_DUPFD_CLOEXEC, 20));
      if (!copies_.back())
        return fail(fmt::format("cannot copy a descriptor: {}", strerror(errno)));
    }
    ATTUNE_CHECK(last < 20);
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      note(
          posix_spawn_file_actions_adddup2(&actions_, copies_[i].get(), spec.descriptors[i].first));
    }
    note(posix_spawn_file_actions_addclosefrom_np(&actions_, last + 1));
    if (error_ == 0) return {};
    return fail(
        fmt::format("cannot prepare the start of {}: {}", spec.arguments.at(0), strerror(error_)));
  }

 private:
  // Keeps the first error. Without one of the actions the child would run in another directory, or
  // with descriptors of ours.
  void note(int error) {
    if (error_ == 0) error_ = error;
  }

  posix_spawn_file_actions_t actions_;
  int error_ = 0;  // the first one
  std::vector<UniqueFd> copies_;
};

class SpawnAttributes {
 public:
  explicit SpawnAttributes(bool detached) {
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, detached ? &all : &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    const int group = detached ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(
        &attributes_, static_cast<short>(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace

std::string to_text(const ExitStatus& status) {
  if (status.signal == 0) return fmt::format("exit code {}", status.code);
  return fmt::format("killed by signal {} ({})", status.signal, strsignal(status.signal));
}

std::vector<std::string> child_environment(
    const std::vector<std::string>& inherited,
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> result;
  for (const std::string& variable : inherited) {
    const std::string name = variable.substr(0, variable.find('='));
    const bool replaced =
        std::ranges::any_of(added, [&](const auto& entry) { return entry.first == name; });
    if (!replaced && !name.starts_with("NNI_") && !name.starts_with("ATTUNE_")) {
      result.push_back(variable);
    }
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

Result<SpawnedProcess> spawn_process(const ProcessSpec& spec) {
  FileActions actions;
  TRY(actions.add(spec));
  const SpawnAttributes attributes(spec.detached);
  const std::vector<char*> arguments = c_strings(spec.arguments);
  const std::vector<char*> environment = c_strings(spec.environment);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, spec.arguments.at(0).c_str(), actions.get(),
                                  attributes.get(), arguments.data(), environment.data());
  if (error != 0) {
    return fail(fmt::format("cannot start {} in {}: {}", spec.arguments[0], spec.directory.string(),
                            strerror(error)));
  }
  // The child is not reaped yet, so the number is its own even if it has ended already.
  const int pidfd = ::pidfd_open(pid, 0);
  if (pidfd < 0) {
    const std::string reason = strerror(errno);
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return fail(fmt::format("cannot watch {}: pidfd_open: {}", spec.arguments[0], reason));
  }
  return SpawnedProcess{pid, UniqueFd(pidfd)};
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::spawn(boost::asio::io_context& io,
                                                          const ProcessSpec& spec, OnExit on_exit) {
  SpawnedProcess process = TRY(spawn_process(spec));
  return std::unique_ptr<ChildProcess>(
      new ChildProcess(io, process.pid, process.pidfd.release(), std::move(on_exit)));
}

ChildProcess::ChildProcess(boost::asio::io_context& io, pid_t pid, int pidfd, OnExit on_exit)
    : pid_(pid), exit_(io, pidfd), grace_(io), on_exit_(std::move(on_exit)) {
  wait_for_exit();
}

ChildProcess::~ChildProcess() {
  if (!running_) return;
  kill();
  ::waitpid(pid_, nullptr, 0);
}

void ChildProcess::wait_for_exit() {
  exit_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                   [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                     if (!error && !alive.expired()) reap();
                   });
}

void ChildProcess::reap() {
  siginfo_t info = {};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    wait_for_exit();
    return;
  }
  // Not reaped yet, the zombie still holds the number of the group, so this cannot hit a stranger.
  ::kill(-pid_, SIGKILL);
  ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED);
  running_ = false;
  grace_.cancel();
  exit_.close();
  ExitStatus status;
  (info.si_code == CLD_EXITED ? status.code : status.signal) = info.si_status;
  const OnExit on_exit = std::move(on_exit_);  // may destroy *this
  on_exit(status);
}

void ChildProcess::leave() {
  running_ = false;
  grace_.cancel();
  exit_.close();  // else reap() would report its end, and kill its group
}

void ChildProcess::terminate(std::chrono::milliseconds grace) {
  if (!running_ || std::exchange(terminating_, true)) return;
  ::kill(-pid_, SIGTERM);
  grace_.expires_after(grace);
  grace_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (!error && !alive.expired()) kill();
  });
}

void ChildProcess::kill() {
  if (running_) ::kill(-pid_, SIGKILL);
}

// A running child has not been reaped, so the number is still its own.
void ChildProcess::ask_to_end() {
  if (running_) ::kill(pid_, SIGTERM);
}

}  // namespace attune
