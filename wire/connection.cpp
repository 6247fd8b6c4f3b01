#include "wire/connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <optional>
#include <tuple>
#include <utility>  // Boost 1.74's Asio forgets it
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "base/check.h"
#include "wire/host_port.h"
#include "wire/life_signs.h"
#include "wire/send_queue.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kReadSize = std::size_t{16} << 10;
// Bytes. Urgent frames cannot overtake what the operating system has accepted. So it accepts no
// more than this before it can send it.
constexpr int kMostUnsent = 128 << 10;

template <class Value>
void set_option(int socket, int level, int name, Value value) {
  // Errors are ignored: without the option everything works, but more slowly.
  std::ignore = ::setsockopt(socket, level, name, &value, sizeof value);
}

void configure(int socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, kMostUnsent);
}

bool is_word(const json& message, std::string_view word) {
  const auto type = message.find("type");
  return type != message.end() && type->is_string() && type->get_ref<const std::string&>() == word;
}

}  // namespace

// Shared by the Connection and by all pending operations and posted calls, so that none of them
// finds it destroyed.
class Connection::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& io, const ConnectionOptions& options)
      : io_(io),
        options_(options),
        socket_(io),
        tick_(io),
        farewell_(io),
        decoder_(options.frames),
        life_(options.ping, options.silence),
        chunk_(kReadSize, '\0') {}

  void open(UniqueFd socket) {
    configure(socket.get());
    error_code error;
    // v4 also for IPv6 sockets: Asio looks at the protocol in open() only.
    std::ignore = socket_.assign(tcp::v4(), socket.get(), error);
    if (error) return end("no socket: " + error.message());
    std::ignore = socket.release();
    const tcp::endpoint there = socket_.remote_endpoint(error);
    if (error) return end("not connected: " + error.message());
    peer_ = HostPort{there.address().to_string(), there.port()}.text();
    wait_tick();
  }

  void start(Handlers handlers) {
    ATTUNE_CHECK(handlers.on_message && handlers.on_closed);
    handlers_ = std::make_shared<const Handlers>(std::move(handlers));
    resume();
    post(&Impl::tell);
  }

  void secure(TlsSession session) {
    if (state_ != State::open) return;
    ATTUNE_CHECK(!tls_);
    raw_ += queue_.take_waiting();
    tls_.emplace(std::move(session));
    raw_ += tls_->take_ciphertext();
    take_in(decoder_.take_rest());
    if (!writing_ && !std::exchange(write_posted_, true)) post(&Impl::write);
  }

  void release() {
    handlers_.reset();
    if (state_ == State::open) shut();
  }

  Result<void> send(const json& message, Lane lane) {
    std::string frame = TRY(encode_json_frame(message, options_.frames.bytes));
    if (state_ != State::open || mute_) return {};
    const std::size_t bytes = queue_.bytes() + SendQueue::cost(frame);
    if (bytes > options_.most_outgoing_bytes) {
      end(fmt::format("{} bytes wait for the other side, which does not take them", bytes));
      return {};
    }
    queue_.push(std::move(frame), lane == Lane::urgent);
    crowded_ = crowded_ || congested();
    if (!writing_ && !std::exchange(write_posted_, true)) post(&Impl::write);
    return {};
  }

  bool congested() const { return queue_.bytes() >= options_.congested_bytes; }
  std::size_t outgoing_bytes() const { return queue_.bytes(); }

  void pause() { paused_ = true; }
  void resume() {
    if (!std::exchange(paused_, false)) return;
    life_.heard();
    post(&Impl::deliver);
  }

  void close(const std::string& reason) {
    if (state_ != State::open) return;
    state_ = State::closing;
    reason_ = reason;
    error_code ignored;
    std::ignore = tick_.cancel(ignored);
    farewell_.expires_after(options_.farewell);
    farewell_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->end("");
    });
    post(&Impl::write);
    // Keep reading while closing. If a socket is closed with unread bytes, TCP sends a reset, and
    // the other side may lose our last message.
    read();
  }

  void refuse(const std::string& message, bool final, std::string_view code = {}) {
    if (state_ != State::open) return;
    json error = {{"type", "error"}, {"message", message}, {"final", final}};
    if (!code.empty()) error["code"] = code;
    if (auto frame = encode_json_frame(error)) queue_.push(*std::move(frame), true);
    close(message);
  }

  void end(const std::string& reason) {
    if (state_ == State::closed) return;
    if (state_ == State::open) reason_ = reason;
    shut();
    post(&Impl::tell);
  }

  void set_intervals(std::chrono::milliseconds ping, std::chrono::milliseconds silence) {
    life_.set_intervals(ping, silence);
    if (state_ == State::open) wait_tick();
  }
  void set_frame_limits(const JsonFrameLimits& frames) {
    options_.frames = frames;
    decoder_.set_limits(frames);
  }
  const std::string& peer() const { return peer_; }

 private:
  enum class State { open, closing, closed };

  void post(void (Impl::*what)()) {
    asio::post(io_, [self = shared_from_this(), what] { (self.get()->*what)(); });
  }

  void shut() {
    state_ = State::closed;
    error_code ignored;
    std::ignore = socket_.close(ignored);
    std::ignore = tick_.cancel(ignored);
    std::ignore = farewell_.cancel(ignored);
    queue_.drop_waiting();
  }

  // ---- in

  void read() {
    if (reading_ || state_ == State::closed || (state_ == State::open && paused_)) return;
    reading_ = true;
    socket_.async_read_some(asio::buffer(chunk_),
                            [self = shared_from_this()](error_code error, std::size_t size) {
                              self->reading_ = false;
                              self->on_read(error, size);
                            });
  }

  void on_read(error_code error, std::size_t size) {
    if (state_ == State::closed) return;
    life_.heard();
    if (state_ == State::closing) return error ? end("") : read();
    if (error) {
      lost_ = error == asio::error::eof ? end_of_stream() : error.message();
    } else {
      take_in(std::string_view(chunk_).substr(0, size));
    }
    deliver();
  }

  std::string end_of_stream() const {
    const bool said = !tls_ || tls_->finished();
    return said ? "the other side has closed" : "the connection was cut";
  }

  void take_in(std::string_view bytes) {
    if (!tls_) return decoder_.feed(bytes);
    const auto fed = tls_->feed(bytes);
    decoder_.feed(tls_->take_plaintext());
    if (!fed) lost_ = fed.error().message;
    raw_ += tls_->take_ciphertext();
    // The TLS handshake may be complete now: send the messages that waited for it.
    if (!writing_ && !(raw_.empty() && queue_.empty())) write();
  }

  // Gives received messages to the owner until it pauses or closes; then reads on.
  void deliver() {
    while (state_ == State::open && !paused_) {
      auto next = decoder_.next();
      if (!next) return refuse(next.error().message, false);
      if (*next) {
        take(std::move(**next));
      } else if (lost_.empty()) {
        return read();
      } else {
        return end(decoder_.has_rest() ? lost_ + " in the middle of a frame" : lost_);
      }
    }
  }

  void take(json message) {
    if (is_word(message, "pong")) return;
    if (is_word(message, "ping")) {
      // One waiting pong answers all pings. So a peer that sends pings and reads nothing cannot use
      // up our memory.
      if (!queue_.waits_urgent()) std::ignore = send({{"type", "pong"}}, Lane::urgent);
      return;
    }
    const auto handlers = handlers_;  // the callback may replace them, or destroy the connection
    handlers->on_message(std::move(message));
  }

  // ---- out

  void write() {
    write_posted_ = false;
    if (writing_ || state_ == State::closed) return;
    const std::vector<asio::const_buffer> buffers = take_buffers();
    if (buffers.empty()) {
      error_code ignored;
      if (state_ == State::closing)
        std::ignore = socket_.shutdown(tcp::socket::shutdown_send, ignored);
      return;
    }
    writing_ = true;
    asio::async_write(socket_, buffers, [self = shared_from_this()](error_code error, std::size_t) {
      self->writing_ = false;
      self->queue_.drop_batch();
      self->on_written(error);
    });
  }

  // Takes what is written next, and keeps its memory until it is written. Encryption happens only
  // here, because encrypted bytes have a fixed order: an urgent frame could not overtake them.
  std::vector<asio::const_buffer> take_buffers() {
    sending_ = std::exchange(raw_, {});
    std::vector<asio::const_buffer> buffers;
    if (tls_) {
      if (tls_->established()) encrypt_batch();
      sending_ += tls_->take_ciphertext();
    }
    if (!sending_.empty()) buffers.push_back(asio::buffer(sending_));
    if (tls_) return buffers;
    for (const std::string& frame : queue_.take_batch()) buffers.push_back(asio::buffer(frame));
    return buffers;
  }

  void encrypt_batch() {
    const auto& batch = queue_.take_batch();
    if (batch.size() == 1) {
      std::ignore = tls_->write(batch.front());  // avoids copying a large frame
    } else {
      std::string text;  // joined, so that small frames share TLS records
      for (const std::string& frame : batch) text += frame;
      std::ignore = tls_->write(text);
    }
    if (batch.empty() && state_ == State::closing && !std::exchange(end_said_, true))
      tls_->finish();
    queue_.free_batch();
  }

  void on_written(error_code error) {
    if (state_ == State::closed) return;
    if (error) return cannot_write();
    life_.spoken();
    write();
    if (!crowded_ || queue_.bytes() > options_.congested_bytes / 2) return;
    crowded_ = false;
    const auto handlers = handlers_;
    if (state_ == State::open && handlers && handlers->on_room) handlers->on_room();
  }

  // The other side is gone. Its last messages may still be unread, so do not end here: reading
  // gives them to the owner and then finds the end.
  void cannot_write() {
    if (state_ == State::closing) return end("");
    mute_ = true;
    queue_.drop_waiting();
  }

  // ---- time

  void wait_tick() {
    tick_.expires_after(life_.tick());
    tick_.async_wait([self = shared_from_this()](error_code error) {
      if (!error && self->state_ == State::open) self->on_tick();
    });
  }

  void on_tick() {
    const auto verdict = life_.count(!paused_);
    if (verdict == LifeSigns::Verdict::silent)
      return end(
          fmt::format("silent for {:g} s", static_cast<double>(life_.silence().count()) / 1e3));
    // A waiting frame does the work of a ping when it arrives.
    if (verdict == LifeSigns::Verdict::ping && queue_.empty())
      std::ignore = send({{"type", "ping"}}, Lane::urgent);
    wait_tick();
  }

  void tell() {
    if (state_ != State::closed || !handlers_) return;
    const auto handlers = std::exchange(handlers_, nullptr);
    handlers->on_closed(reason_);
  }

  asio::io_context& io_;
  ConnectionOptions options_;
  tcp::socket socket_;
  asio::steady_timer tick_, farewell_;
  std::string peer_ = "nobody";
  std::shared_ptr<const Handlers> handlers_;  // null: not started, end reported, or released
  State state_ = State::open;
  std::string reason_;  // why state_ is not open

  JsonFrameDecoder decoder_;
  LifeSigns life_;
  std::string chunk_;
  std::string lost_;  // why nothing more will come; reported after the received messages
  bool reading_ = false, paused_ = true;

  SendQueue queue_;
  std::optional<TlsSession> tls_;
  std::string raw_;        // bytes that leave before the queue, without further encryption
  std::string sending_;    // bytes being written: the system may read them
  bool end_said_ = false;  // TLS close_notify was queued
  bool writing_ = false, write_posted_ = false;
  bool mute_ = false;     // writing failed: further bytes would reach nobody
  bool crowded_ = false;  // was congested since the last on_room
};

Connection::Connection(asio::io_context& io, UniqueFd socket, const ConnectionOptions& options)
    : impl_(std::make_shared<Impl>(io, options)) {
  impl_->open(std::move(socket));
}
Connection::~Connection() { impl_->release(); }

void Connection::secure(TlsSession session) { impl_->secure(std::move(session)); }
void Connection::start(Handlers handlers) { impl_->start(std::move(handlers)); }
Result<void> Connection::send(const json& message, Lane lane) { return impl_->send(message, lane); }
bool Connection::congested() const { return impl_->congested(); }
std::size_t Connection::outgoing_bytes() const { return impl_->outgoing_bytes(); }
void Connection::pause_reading() { impl_->pause(); }
void Connection::resume_reading() { impl_->resume(); }
void Connection::close(const std::string& reason) { impl_->close(reason); }
void Connection::refuse(const std::string& message, bool final, std::string_view code) {
  impl_->refuse(message, final, code);
}
void Connection::drop(const std::string& reason) { impl_->end(reason); }
void Connection::set_intervals(std::chrono::milliseconds ping, std::chrono::milliseconds silence) {
  impl_->set_intervals(ping, silence);
}
void Connection::set_frame_limits(const JsonFrameLimits& frames) {
  impl_->set_frame_limits(frames);
}
const std::string& Connection::peer() const { return impl_->peer(); }

}  // namespace attune
