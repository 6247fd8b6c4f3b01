#include "tests/support/manager_socket.h"

#include <poll.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <deque>
#include <stdexcept>
#include <tuple>

#include "tests/support/deadline.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using Code = boost::system::error_code;

}  // namespace

struct ManagerSocket::Impl {
  using Stream = websocket::stream<tcp::socket, false>;

  template <class Predicate>
  void run_until(Predicate done, const char* what) {
    while (!done()) {
      io.restart();
      if (io.run_one_for(kDeadline) == 0) throw std::runtime_error(std::string("no ") + what);
    }
  }

  // Starts an operation and waits for its end.
  template <class Start>
  Code attempt(Start start, const char* what) {
    std::optional<Code> result;
    start([&result](Code error, auto&&...) { result = error; });
    run_until([&result] { return result.has_value(); }, what);
    return *result;
  }

  template <class Start>
  void run(Start start, const char* what) {
    const Code error = attempt(start, what);
    if (error) throw std::runtime_error(what + (": " + error.message()));
  }

  tcp::socket accept_socket() {
    tcp::socket socket(io);
    run([&](auto done) { acceptor.async_accept(socket, done); }, "connection");
    return socket;
  }

  void read() {
    stream->async_read(buffer, [this](Code error, std::size_t) {
      if (error) {
        closed = true;
        return;
      }
      messages.push_back(boost::beast::buffers_to_string(buffer.data()));
      buffer.clear();
      read();
    });
  }

  Dialect dialect = Dialect::v2;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  std::unique_ptr<Stream> stream;
  boost::beast::flat_buffer buffer;
  std::deque<std::string> messages;
  bool closed = false;
  bool ponged = false;
};

ManagerSocket::ManagerSocket(Dialect dialect) : impl_(std::make_unique<Impl>()) {
  impl_->dialect = dialect;
  impl_->acceptor.open(tcp::v4());
  impl_->acceptor.bind({asio::ip::address_v4::loopback(), 0});
}

ManagerSocket::~ManagerSocket() = default;

std::string ManagerSocket::url() const {
  return "ws://127.0.0.1:" + std::to_string(impl_->acceptor.local_endpoint().port()) + "/tuner";
}

void ManagerSocket::listen(int receive_buffer) {
  if (receive_buffer > 0) {
    impl_->acceptor.set_option(asio::socket_base::receive_buffer_size(receive_buffer));
  }
  impl_->acceptor.listen();
}

void ManagerSocket::accept() {
  impl_->stream = std::make_unique<Impl::Stream>(impl_->accept_socket());
  impl_->stream->read_message_max(0);
  impl_->stream->control_callback([this](websocket::frame_type kind, boost::beast::string_view) {
    impl_->ponged |= kind == websocket::frame_type::pong;
  });
  impl_->run([this](auto done) { impl_->stream->async_accept(done); }, "handshake");
  impl_->closed = false;
  impl_->buffer.clear();
  impl_->read();
}

bool ManagerSocket::has_client() {
  pollfd entry{impl_->acceptor.native_handle(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

void ManagerSocket::answer_http(int status) {
  tcp::socket socket = impl_->accept_socket();
  // Closing a socket with unread bytes would destroy the answer.
  std::string request(4096, '\0');
  impl_->run([&](auto done) { socket.async_read_some(asio::buffer(request), done); }, "request");
  const std::string answer =
      "HTTP/1.1 " + std::to_string(status) + " no\r\nContent-Length: 0\r\n\r\n";
  impl_->run([&](auto done) { asio::async_write(socket, asio::buffer(answer), done); }, "answer");
}

void ManagerSocket::send(const std::string& code, const std::string& payload) {
  send_message(encode_message(impl_->dialect, {code, payload}));
}

std::optional<Frame> ManagerSocket::receive() {
  impl_->run_until([this] { return impl_->closed || !impl_->messages.empty(); }, "answer");
  if (impl_->messages.empty()) return std::nullopt;
  auto frame = decode_message(impl_->dialect, impl_->messages.front());
  if (!frame) throw std::runtime_error(frame.error().message);
  impl_->messages.pop_front();
  return *std::move(frame);
}

void ManagerSocket::send_message(const std::string& data, bool text) {
  impl_->stream->text(text);
  impl_->stream->auto_fragment(false);
  impl_->run([&](auto done) { impl_->stream->async_write(asio::buffer(data), done); }, "room");
}

void ManagerSocket::send_fragmented(const std::string& data, std::size_t fragment) {
  impl_->stream->text(true);
  for (std::size_t begin = 0; begin < data.size(); begin += fragment) {
    const auto piece = asio::buffer(data.data() + begin, std::min(fragment, data.size() - begin));
    const bool last = begin + fragment >= data.size();
    impl_->run([&](auto done) { impl_->stream->async_write_some(last, piece, done); }, "room");
  }
}

void ManagerSocket::send_bytes(const std::string& bytes) {
  impl_->run(
      [&](auto done) { asio::async_write(impl_->stream->next_layer(), asio::buffer(bytes), done); },
      "room");
}

std::size_t ManagerSocket::ping() {
  impl_->ponged = false;
  impl_->run([this](auto done) { impl_->stream->async_ping({}, done); }, "room");
  impl_->run_until([this] { return impl_->ponged || impl_->closed; }, "pong");
  if (!impl_->ponged) throw std::runtime_error("closed before the pong");
  return impl_->messages.size();
}

void ManagerSocket::close(std::uint16_t code) {
  // The client may have closed at the same time, which is no error.
  std::ignore =
      impl_->attempt([&](auto done) { impl_->stream->async_close({code}, done); }, "close");
}

void ManagerSocket::drop() {
  impl_->stream->next_layer().close();
  impl_->run_until([this] { return impl_->closed; }, "end");
  impl_->messages.clear();
}

std::optional<std::uint16_t> ManagerSocket::close_code() const {
  if (!impl_->stream->reason()) return std::nullopt;
  return impl_->stream->reason().code;
}

}  // namespace attune
