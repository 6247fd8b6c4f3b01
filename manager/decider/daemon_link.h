#pragma once
// One daemon process and the two pipes to it. Nothing here blocks: what cannot be written yet is
// queued.
//
// Events::end is called once, whether the daemon dies, sends bytes that are no frame, or closes its
// pipe. It comes after the daemon's last answers were read and its exit status is known, or after a
// time-out.
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "os/log.h"
#include "os/process.h"
#include "protocol/frame.h"

namespace attune {

struct DaemonEnd {
  bool asked = false;              // end() was called
  std::optional<ExitStatus> exit;  // nothing: the daemon still ran, and was killed
  std::string text;                // what happened, with the daemon's last words if there are any

  // The daemon was killed or terminated, or broke down. It did not refuse its input (exit codes 2
  // and 3), so that another daemon can continue.
  bool died = false;
};

// One thread makes all calls, that of `io`. Of the events, only `frame` may destroy the link.
class DaemonLink {
 public:
  struct Launch {
    std::vector<std::string> arguments;    // [0] is the program
    std::vector<std::string> environment;  // "NAME=value", all of it
    // Its working directory, which must exist. Output and errors go to attuned.stderr there.
    std::filesystem::path log_directory;
    std::chrono::milliseconds exit_grace;  // the daemon is killed so long after end()
  };
  struct Events {
    std::function<void(const Frame&)> frame;
    std::function<void()> written;       // some bytes were written: unsent() is smaller
    std::function<void(DaemonEnd)> end;  // once; no other event follows
  };
  // The caller ignores SIGPIPE.
  static Result<std::unique_ptr<DaemonLink>> start(boost::asio::io_context& io, Launch launch,
                                                   Events events, Log log);
  ~DaemonLink();
  DaemonLink(const DaemonLink&) = delete;
  DaemonLink& operator=(const DaemonLink&) = delete;

  void send(const Frame& frame);  // ignored once the daemon ends
  std::size_t unsent() const { return queued_.size() + writing_.size(); }  // bytes

  // Gives the daemon up because of `what` it did; Events::end follows. `words`: an error message
  // that the daemon itself sent.
  void break_off(std::string what, std::string words = "");
  // The daemon should end now; Events::end follows. `hang_up`: it was not sent a Terminate, so that
  // its input is closed to tell it.
  void end(bool hang_up);
  void kill();  // kills the daemon at once; no event follows

 private:
  DaemonLink(boost::asio::io_context& io, Launch launch, Events events, Log log);
  Result<void> spawn();
  void write_more();
  void read_more();
  void lost(std::string what);  // no more frames will come; waits a moment for the exit status
  void settle();                // calls Events::end
  std::filesystem::path stderr_path() const { return launch_.log_directory / "attuned.stderr"; }

  boost::asio::io_context& io_;
  Launch launch_;
  Events events_;
  Log log_;
  std::unique_ptr<ChildProcess> process_;
  boost::asio::posix::stream_descriptor to_, from_;
  boost::asio::steady_timer patience_;
  std::vector<char> input_;
  FrameDecoder decoder_{Framing{}};
  std::string queued_, writing_;

  bool ending_ = false;        // end() was called
  bool stream_ended_ = false;  // the daemon has closed its output
  bool input_closed_ = false;  // the daemon reads no more
  bool settled_ = false;       // settle() or kill() was called
  std::optional<ExitStatus> exit_;
  std::string lost_, words_;                                    // `what` and `words` of break_off()
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
