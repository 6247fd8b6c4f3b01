#pragma once
// One life of the daemon: its process, and the two pipes to it. Nothing here blocks; what cannot be
// written yet is queued.
//
// Its death, bytes that are no frame and an unasked-for end of the stream all become one end, once
// everything about it is known: its last answers were read, and its exit status came or is late.
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
  bool asked = false;              // by end()
  std::optional<ExitStatus> exit;  // nothing: it lived on, and was killed
  std::string text;                // what happened, with its own words where it left some

  // It was killed or terminated, or broke down: it had nothing to say against going on.
  bool died = false;
};

// Not thread safe. It may be destroyed from inside `frame` only.
class DaemonLink {
 public:
  struct Launch {
    std::vector<std::string> arguments;    // [0] is the program
    std::vector<std::string> environment;  // "NAME=value", all of it
    std::filesystem::path log_directory;   // exists: where it runs, and attuned.stderr is made
    std::chrono::milliseconds exit_grace;  // to end after end(); then it is killed
  };
  struct Events {
    std::function<void(const Frame&)> frame;
    std::function<void()> written;       // something
    std::function<void(DaemonEnd)> end;  // once, the last
  };
  // The caller ignores SIGPIPE.
  static Result<std::unique_ptr<DaemonLink>> start(boost::asio::io_context& io, Launch launch,
                                                   Events events, Log log);
  ~DaemonLink();
  DaemonLink(const DaemonLink&) = delete;
  DaemonLink& operator=(const DaemonLink&) = delete;

  void send(const Frame& frame);  // nothing after its end
  std::size_t unsent() const { return queued_.size() + writing_.size(); }

  // Its end follows: because of `what` that it did; `words`: its own, if it sent some.
  void break_off(std::string what, std::string words = "");
  void end(bool hang_up);  // it was told to terminate; or is, by the end of its input
  void kill();             // at once; nothing follows

 private:
  DaemonLink(boost::asio::io_context& io, Launch launch, Events events, Log log);
  Result<void> spawn();
  void write_more();
  void read_more();
  void lost(std::string what);  // the conversation is over; wait a moment for the exit status
  void settle();
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

  bool ending_ = false;        // it was told to
  bool stream_ended_ = false;  // it will say nothing more
  bool input_closed_ = false;  // it will hear nothing more
  bool settled_ = false;
  std::optional<ExitStatus> exit_;
  std::string lost_, words_;  // why the conversation broke off; what it said itself
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
