#pragma once
// Prepares what the server needs, and parts from the manager if that fails.
//
// A manager of NNI 2.8 or later waits 10 s for the connection, and pings it from then on. A former
// daemon may hold the journal for longer, and a replay takes its time. So the channel connects
// first, and a helper thread does what may take long. Meanwhile the channel is read, because the
// manager may end the conversation: then the preparation is given up, and no record has been
// written.
#include <utility>  // Boost 1.74's asio/awaitable.hpp forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <string>

#include "daemon/channel.h"
#include "daemon/read_ahead.h"
#include "daemon/resume.h"
#include "daemon/wakeup.h"
#include "journal/helper_thread.h"

namespace attune {

// Must live until the event loop has run for the last time. Io thread only.
class Opening {
 public:
  // All references must outlive this object. `signals` are those that end the daemon.
  Opening(boost::asio::io_context& io, boost::asio::signal_set& signals, ReadAhead& channel,
          const Configuration& configuration, const Algorithms& algorithms, FileSystem& files,
          const Clock& clock, Log log);

  // Runs the event loop until all is ready. Errors: those of make_beginning(), a signal, or the
  // manager has ended the conversation and the beginning is not ready in time (deadlines.h).
  Result<Beginning> run();

  std::optional<int> signalled() const { return signal_; }
  std::optional<ExitCode> ended() const { return ended_; }
  // After an error: the helper still works, and only _exit() can end it.
  bool stuck() const { return helper_.busy(); }

 private:
  void await_signal();
  void watch_input();
  void on_end(ReadAhead::End end);
  void on_wakeup();

  boost::asio::io_context& io_;
  boost::asio::signal_set& signals_;
  ReadAhead& channel_;
  const Configuration& configuration_;
  const Algorithms& algorithms_;
  FileSystem& files_;
  const Clock& clock_;
  Log log_;
  boost::asio::steady_timer watch_, deadline_;
  bool over_ = false;  // run() has returned, or is about to
  std::optional<int> signal_;
  std::optional<ExitCode> ended_;
  std::optional<double> end_seen_;
  std::optional<Result<Beginning>> beginning_;  // only the helper uses it while it is busy
  Wakeup wakeup_;
  HelperThread helper_;  // last: it uses the above
};

// For a manager that has ended the conversation: closes the channel, and runs the event loop until
// that is done or a signal comes.
void leave(boost::asio::io_context& io, boost::asio::signal_set& signals, Channel& channel,
           const Log& log);

// Tells the manager why the daemon cannot begin, runs the event loop until it has noticed
// (Channel::close) or a signal ends that, and returns `code`.
int refuse(boost::asio::io_context& io, boost::asio::signal_set& signals, Channel& channel,
           const Capabilities& capabilities, ExitCode code, const std::string& message,
           const Log& log);

}  // namespace attune
