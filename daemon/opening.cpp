#include "daemon/opening.h"

#include <fmt/format.h>

#include <csignal>

#include "daemon/deadlines.h"
#include "protocol/codec.h"

namespace attune {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

// For so long nothing is read. Most beginnings are ready by then; and if one fails, the manager's
// first command is still unread, which tells NNI's manager of the failure at once (PipeChannel).
constexpr milliseconds kUnwatched{10};

}  // namespace

Opening::Opening(asio::io_context& io, asio::signal_set& signals, ReadAhead& channel,
                 const Configuration& configuration, const Algorithms& algorithms,
                 FileSystem& files, const Clock& clock, Log log)
    : io_(io),
      signals_(signals),
      channel_(channel),
      configuration_(configuration),
      algorithms_(algorithms),
      files_(files),
      clock_(clock),
      log_(std::move(log)),
      watch_(io),
      deadline_(io),
      wakeup_(io, [this] { on_wakeup(); }),
      helper_("opening", [this] { wakeup_.ring(); }) {}

Result<Beginning> Opening::run() {
  await_signal();
  watch_input();
  helper_.start([this]() -> Result<void> {
    beginning_ = make_beginning(configuration_, algorithms_, files_, clock_, log_);
    return {};
  });
  io_.restart();
  io_.run();
  signals_.cancel();
  watch_.cancel();
  deadline_.cancel();
  if (signal_) return fail(fmt::format("attuned was ended by signal {}", *signal_));
  if (ended_) return fail("the manager has ended the conversation before the journal was replayed");
  auto beginning = *std::exchange(beginning_, std::nullopt);
  if (beginning) beginning->end_seen = end_seen_;
  return beginning;
}

void Opening::watch_input() {
  watch_.expires_after(kUnwatched);
  watch_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled || over_) return;
    channel_.begin([this](ReadAhead::End end) { on_end(end); });
  });
}

// If the beginning is ready before the deadline, the commands that were read are handled as usual.
// Otherwise they were not acknowledged, so the manager still has them.
void Opening::on_end(ReadAhead::End end) {
  end_seen_ = clock_.now();
  if (end.terminate && configuration_.drain) return;
  deadline_.expires_after(end.terminate ? kQuickStop : kDrainStop);
  deadline_.async_wait([this, code = end.code](const boost::system::error_code& cancelled) {
    if (cancelled || std::exchange(over_, true)) return;
    ended_ = code;
    io_.stop();
  });
}

void Opening::await_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    // run() is over, so the signal is for whoever waits for signals now: raises it again.
    if (std::exchange(over_, true)) {
      ::raise(signal);
      return;
    }
    signal_ = signal;
    io_.stop();
  });
}

void Opening::on_wakeup() {
  const auto done = helper_.take();
  if (!done) return;
  if (!*done) beginning_ = std::unexpected(done->error());
  if (std::exchange(over_, true)) {
    beginning_.reset();  // releases the journal's lock: another daemon may wait for it
  } else {
    io_.stop();
  }
}

namespace {

// Ends a conversation before the server has run.
class Farewell : private ChannelEvents {
 public:
  Farewell(asio::io_context& io, Channel& channel, Parting how)
      : io_(io), channel_(channel), how_(how) {}

  void run(asio::signal_set& signals, const std::optional<Frame>& last, const Log& log) {
    channel_.attach(*this);
    channel_.stop_receiving();
    if (last) {
      if (auto sent = channel_.send(*last); !sent) log.debug("{}", sent.error().message);
    }
    signals.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) io_.stop();
    });
    if (channel_.close(how_)) return;
    io_.restart();
    io_.run();
  }

 private:
  void on_input() override {}
  void on_end(ExitCode) override {}
  void on_output() override {
    if (channel_.close(how_)) io_.stop();
  }

  asio::io_context& io_;
  Channel& channel_;
  const Parting how_;
};

}  // namespace

void leave(asio::io_context& io, asio::signal_set& signals, Channel& channel, const Log& log) {
  Farewell(io, channel, Parting::agreed).run(signals, std::nullopt, log);
}

int refuse(asio::io_context& io, asio::signal_set& signals, Channel& channel,
           const Capabilities& capabilities, ExitCode code, const std::string& message,
           const Log& log) {
  log.error("{}", message);
  std::optional<Frame> last;
  if (capabilities.error) last = encode(DaemonError{message});
  Farewell(io, channel, Parting::failed).run(signals, last, log);
  log.info("exiting with code {}", static_cast<int>(code));
  return code;
}

}  // namespace attune
