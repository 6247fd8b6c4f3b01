#include "daemon/pipe_channel.h"

#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

namespace attune {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kReadSize = 64 << 10;
// A manager that no longer reads has this time to end its input, too.
constexpr std::chrono::milliseconds kGrace{1000};

}  // namespace

PipeChannel::PipeChannel(asio::io_context& io, int in_fd, int out_fd, Framing framing,
                         std::chrono::milliseconds notice_for, Log log)
    : framing_(framing),
      log_(std::move(log)),
      in_(io, in_fd),
      out_(io, out_fd),
      decoder_(framing),
      read_buffer_(kReadSize, '\0'),
      grace_(io),
      notice_for_(notice_for),
      noticed_(notice_for.count() == 0 || ::isatty(in_fd) == 1) {}

void PipeChannel::receive() {
  if (read_in_flight_) return;  // two reads would share the buffer
  read_in_flight_ = true;
  in_.async_read_some(
      asio::buffer(read_buffer_),
      [this](const boost::system::error_code& error, std::size_t size) { on_read(error, size); });
}

void PipeChannel::on_read(const boost::system::error_code& error, std::size_t size) {
  read_in_flight_ = false;
  if (error == asio::error::operation_aborted) return;
  if (!error) {
    decoder_.feed(std::string_view(read_buffer_).substr(0, size));
    events_->on_input();
    return;
  }
  if (error != asio::error::eof) log_.warning("reading commands: {}", error.message());
  if (decoder_.mid_frame()) {
    log_.error("the command stream ended inside a frame at byte {}: '{}'", decoder_.offset(),
               decoder_.head());
    events_->on_end(kExitProtocol);
  } else {
    log_.info("end of input: the manager has gone");
    events_->on_end(kExitOk);
  }
}

void PipeChannel::stop_receiving() {
  boost::system::error_code error;
  if (in_.cancel(error)) log_.debug("cancelling the read: {}", error.message());
}

Result<void> PipeChannel::send(const Frame& frame) {
  if (manager_gone_) return {};
  TRY(encode_frame(frame, framing_, outgoing_));
  if (!write_in_flight_) write();
  return {};
}

void PipeChannel::write() {
  write_in_flight_ = true;
  writing_.clear();
  writing_.swap(outgoing_);
  asio::async_write(
      out_, asio::buffer(writing_),
      [this](const boost::system::error_code& error, std::size_t) { on_written(error); });
}

void PipeChannel::on_written(const boost::system::error_code& error) {
  write_in_flight_ = false;
  if (error) {
    log_.warning("the manager no longer reads: {}", error.message());
    manager_gone_ = true;
    outgoing_.clear();
    // What the manager sent before is still handled and recorded: the next daemon must know of it.
    grace_.expires_after(kGrace);
    grace_.async_wait([this](const boost::system::error_code& cancelled) {
      if (!cancelled) events_->on_end(kExitOk);
    });
  } else if (!outgoing_.empty()) {
    write();
  }
  events_->on_output();
}

bool PipeChannel::close(Parting how) {
  if (write_in_flight_) return false;
  if (how == Parting::failed && !noticed_) await_notice();
  return !awaiting_notice_;
}

// If a stream socket is closed while bytes are unread, the other side gets an error, ECONNRESET.
// Without unread bytes it gets an end of input, which NNI's manager ignores. So this waits for a
// command and leaves it unread. An end of input from the manager counts as a notice, too.
void PipeChannel::await_notice() {
  if (std::exchange(awaiting_notice_, true)) return;
  log_.info("waiting up to {} ms for the next command, so that the manager notices the failure",
            notice_for_.count());
  in_.async_wait(asio::posix::stream_descriptor::wait_read,
                 [this](const boost::system::error_code& error) {
                   if (error != asio::error::operation_aborted) on_notice();
                 });
  grace_.expires_after(notice_for_);
  grace_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) on_notice();
  });
}

void PipeChannel::on_notice() {
  if (std::exchange(noticed_, true)) return;
  awaiting_notice_ = false;
  grace_.cancel();
  events_->on_output();
}

}  // namespace attune
