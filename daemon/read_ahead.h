#pragma once
// Wraps a channel, and reads its input while nobody can handle it yet, up to a limit, so that the
// end of the conversation is noticed. From attach() on it behaves like the channel inside, but
// first returns what was read.
#include <utility>  // Boost 1.74's asio/awaitable.hpp forgets it

#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>
#include <optional>

#include "daemon/channel.h"

namespace attune {

class ReadAhead final : public Channel, private ChannelEvents {
 public:
  // `channel` must outlive this object. Reading stops beyond `most` bytes.
  ReadAhead(boost::asio::io_context& io, Channel& channel, std::size_t most)
      : io_(io), channel_(channel), most_(most) {}

  // The manager has said Terminate; or no more commands will come, and `code` is how to exit.
  struct End {
    bool terminate = false;
    ExitCode code = kExitOk;
  };
  // Reads until attach() is called. `ended` is called from the event loop, once, unless attach() is
  // called first.
  void begin(std::function<void(End)> ended);

  void open() override { channel_.open(); }
  void attach(ChannelEvents& events) override;
  void receive() override;
  Result<std::optional<Frame>> next() override;
  void stop_receiving() override;
  Result<void> send(const Frame& frame) override { return channel_.send(frame); }
  std::size_t backlog() const override { return channel_.backlog(); }
  bool close(Parting how) override { return channel_.close(how); }

 private:
  void on_input() override;
  void on_end(ExitCode code) override;
  void on_output() override;
  void read();
  void report(End end);
  bool has_any() const { return !frames_.empty() || broken_ || end_; }
  void tell();

  boost::asio::io_context& io_;
  Channel& channel_;
  const std::size_t most_;
  ChannelEvents* events_ = nullptr;  // none until attach()
  std::function<void(End)> ended_;   // until it has been called
  // Read before attach(), and not taken: frames, then why no more can be read, or that none come.
  std::deque<Frame> frames_;
  std::size_t bytes_ = 0;
  std::optional<Error> broken_;
  std::optional<ExitCode> end_;
  bool wanted_ = false;  // receive() was called, and one of these will answer it
};

}  // namespace attune
