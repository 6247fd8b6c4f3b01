#include "daemon/opening.h"

#include <fmt/format.h>

#include <csignal>

#include "protocol/codec.h"

namespace attune {

namespace asio = boost::asio;

Opening::Opening(asio::io_context& io, asio::signal_set& signals,
                 const Configuration& configuration, const Algorithms& algorithms,
                 FileSystem& files, const Clock& clock, Log log)
    : io_(io),
      signals_(signals),
      configuration_(configuration),
      algorithms_(algorithms),
      files_(files),
      clock_(clock),
      log_(std::move(log)),
      wakeup_(io, [this] { on_wakeup(); }),
      helper_("opening", [this] { wakeup_.ring(); }) {}

Result<Beginning> Opening::run() {
  await_signal();
  helper_.start([this]() -> Result<void> {
    beginning_ = make_beginning(configuration_, algorithms_, files_, clock_, log_);
    return {};
  });
  io_.restart();
  io_.run();
  signals_.cancel();
  if (signal_) return fail(fmt::format("attuned was ended by signal {}", *signal_));
  return *std::exchange(beginning_, std::nullopt);
}

void Opening::await_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    // One that came with the last step is for those that wait for signals now.
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
    beginning_.reset();  // and the journal goes to whoever waits for it
  } else {
    io_.stop();
  }
}

namespace {

class Refusal : private ChannelEvents {
 public:
  Refusal(asio::io_context& io, Channel& channel) : io_(io), channel_(channel) {}

  void run(asio::signal_set& signals, const std::optional<Frame>& last, const Log& log) {
    channel_.attach(*this);
    channel_.stop_receiving();
    if (last) {
      if (auto sent = channel_.send(*last); !sent) log.debug("{}", sent.error().message);
    }
    signals.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) io_.stop();
    });
    if (channel_.close(Parting::failed)) return;
    io_.restart();
    io_.run();
  }

 private:
  void on_input() override {}
  void on_end(ExitCode) override {}
  void on_output() override {
    if (channel_.close(Parting::failed)) io_.stop();
  }

  asio::io_context& io_;
  Channel& channel_;
};

}  // namespace

int refuse(asio::io_context& io, asio::signal_set& signals, Channel& channel,
           const Capabilities& capabilities, ExitCode code, const std::string& message,
           const Log& log) {
  log.error("{}", message);
  std::optional<Frame> last;
  if (capabilities.error) last = encode(DaemonError{message});
  Refusal(io, channel).run(signals, last, log);
  log.info("exiting with code {}", static_cast<int>(code));
  return code;
}

}  // namespace attune
