#pragma once
// Child processes: posix_spawn starts each in a process group of its own, a pidfd shows its end
// (there is no SIGCHLD handler), and it is killed as a group.
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>  // Boost 1.74's Asio forgets it
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

struct ExitStatus {
  int code = 0;    // of exit(); meaningless when signal is set
  int signal = 0;  // that killed it, 0 for none

  bool success() const { return code == 0 && signal == 0; }
};
std::string to_text(const ExitStatus& status);  // "exit code 3", "killed by signal 9 (Killed)"

struct ProcessSpec {
  std::vector<std::string> arguments;    // [0] is the path of the program
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::filesystem::path directory;
  // {number in the child, our descriptor}; the number must be below 20. 0, 1 and 2 are /dev/null
  // unless named. The child closes all numbers above the largest one named, and below it those that
  // are close-on-exec.
  std::vector<std::pair<int, int>> descriptors;
  // In a session of its own, away from our terminal, with all signals blocked until it unblocks
  // them. Otherwise it leads a process group in our session, and no signal is blocked.
  bool detached = false;
};

struct SpawnedProcess {
  pid_t pid = 0;
  UniqueFd pidfd;
};
// The caller must reap the child.
Result<SpawnedProcess> spawn_process(const ProcessSpec& spec);

// `inherited` without the variables whose names start with "NNI_" or "ATTUNE_", plus `added`, which
// wins. An experiment that runs inside a trial of another one must not see the outer one's files.
std::vector<std::string> child_environment(
    const std::vector<std::string>& inherited,
    const std::vector<std::pair<std::string, std::string>>& added);

// A running child. Signals and signal masks are reset to their defaults in it.
//
// When the child itself has ended, what is left of its process group is killed before the end is
// reported: nothing of it survives, except processes that moved to another group or session.
class ChildProcess {
 public:
  using OnExit = std::function<void(ExitStatus)>;

  // `on_exit` is called once, from `io`; not after destruction.
  static Result<std::unique_ptr<ChildProcess>> spawn(boost::asio::io_context& io,
                                                     const ProcessSpec& spec, OnExit on_exit);
  ~ChildProcess();  // kills and reaps the group if it still runs

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool running() const { return running_; }

  // SIGTERM to the group now, SIGKILL after `grace`. A second call changes nothing.
  void terminate(std::chrono::milliseconds grace);
  void kill();        // SIGKILL to the group
  void ask_to_end();  // SIGTERM to the child alone, at each call
  // The child runs on, also when this object is gone. Its end is neither reported nor reaped.
  void leave();

 private:
  ChildProcess(boost::asio::io_context& io, pid_t pid, int pidfd, OnExit on_exit);
  void wait_for_exit();
  void reap();

  pid_t pid_;
  bool running_ = true;
  bool terminating_ = false;
  boost::asio::posix::stream_descriptor exit_;
  boost::asio::steady_timer grace_;
  OnExit on_exit_;
  // A handler that Asio has queued runs even after its timer or descriptor is gone; it looks here.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace attune
