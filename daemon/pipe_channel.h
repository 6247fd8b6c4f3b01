#pragma once
// Frames over two descriptors, pipes or sockets: NNI up to 2.7.
#include <utility>  // Boost 1.74's asio/awaitable.hpp forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <string>

#include "daemon/channel.h"
#include "os/log.h"

namespace attune {

class PipeChannel : public Channel {
 public:
  // The descriptors must be open; the channel owns them from here on. `notice_for`: how long
  // close(Parting::failed) waits for a command, which it leaves unread; 0: not at all. It never
  // waits for a terminal.
  PipeChannel(boost::asio::io_context& io, int in_fd, int out_fd, Framing framing,
              std::chrono::milliseconds notice_for, Log log);

  void open() override {}
  void attach(ChannelEvents& events) override { events_ = &events; }
  void receive() override;
  Result<std::optional<Frame>> next() override { return decoder_.next(); }
  void stop_receiving() override;
  Result<void> send(const Frame& frame) override;
  std::size_t backlog() const override { return outgoing_.size(); }
  bool close(Parting how) override;

 private:
  void on_read(const boost::system::error_code& error, std::size_t size);
  void write();
  void on_written(const boost::system::error_code& error);
  void await_notice();
  void on_notice();

  const Framing framing_;
  Log log_;
  ChannelEvents* events_ = nullptr;
  boost::asio::posix::stream_descriptor in_, out_;
  FrameDecoder decoder_;
  std::string read_buffer_;
  std::string outgoing_, writing_;  // what waits, and what is being written
  bool read_in_flight_ = false, write_in_flight_ = false;
  bool manager_gone_ = false;        // nobody reads what we write
  boost::asio::steady_timer grace_;  // waits for the end of input after that, or for a notice
  const std::chrono::milliseconds notice_for_;
  bool noticed_, awaiting_notice_ = false;  // close() need not wait; waits
};

}  // namespace attune
