#pragma once
// How attuned begins, and how it gives up beginning.
//
// A manager of NNI 2.8 or later waits 10 s for the connection and pings it from then on, while a
// former daemon may hold the journal longer, and a replay may take its time: so the channel
// connects first, and a helper thread does what may take long.
#include <utility>  // Boost 1.74's asio/awaitable.hpp forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <optional>
#include <string>

#include "daemon/channel.h"
#include "daemon/resume.h"
#include "daemon/wakeup.h"
#include "journal/helper_thread.h"

namespace attune {

// Lives until the event loop has run for the last time. Io thread only.
class Opening {
 public:
  // All but the log live longer. `signals` are those that end the daemon.
  Opening(boost::asio::io_context& io, boost::asio::signal_set& signals,
          const Configuration& configuration, const Algorithms& algorithms, FileSystem& files,
          const Clock& clock, Log log);

  // Runs the event loop until all is ready. Errors: those of make_beginning(), or a signal.
  Result<Beginning> run();

  std::optional<int> signalled() const { return signal_; }
  // After an error: the helper is still at it, and nobody can end it but _exit().
  bool stuck() const { return helper_.busy(); }

 private:
  void await_signal();
  void on_wakeup();

  boost::asio::io_context& io_;
  boost::asio::signal_set& signals_;
  const Configuration& configuration_;
  const Algorithms& algorithms_;
  FileSystem& files_;
  const Clock& clock_;
  Log log_;
  bool over_ = false;  // run() has returned, or is about to
  std::optional<int> signal_;
  std::optional<Result<Beginning>> beginning_;  // the helper's while it is busy
  Wakeup wakeup_;
  HelperThread helper_;  // last: it uses the above
};

// Tells the manager why the daemon cannot begin, runs the event loop until it has noticed
// (Channel::close) or a signal ends that, and returns `code`.
int refuse(boost::asio::io_context& io, boost::asio::signal_set& signals, Channel& channel,
           const Capabilities& capabilities, ExitCode code, const std::string& message,
           const Log& log);

}  // namespace attune
