#include "daemon/websocket_connection.h"

#include <fmt/format.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/websocket.hpp>
#include <tuple>

namespace attune {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using Code = boost::system::error_code;

constexpr std::size_t kReadSize = 64 << 10;

}  // namespace

// The handlers hold plain pointers, and `pending` counts them. Shared ones would make a cycle: an
// operation that waits for another one to end is stored inside the stream.
struct WebSocketConnection::Impl {
  Impl(asio::io_context& io, std::size_t max)
      : max_message(max), resolver(io), stream(io), chunk(kReadSize, '\0') {
    stream.read_message_max(0);  // ours says it better, and leaves the other direction open
    stream.auto_fragment(false);
  }

  void resolve() {
    ++pending;
    resolver.async_resolve(url.host, url.port, [this](Code error, const auto& endpoints) {
      if (error || dropped) return connected(error);
      reach(endpoints);
    });
  }

  void reach(const tcp::resolver::results_type& endpoints) {
    asio::async_connect(stream.next_layer(), endpoints, [this](Code error, const tcp::endpoint&) {
      if (error || dropped) return connected(error);
      shake_hands();
    });
  }

  void shake_hands() {
    // Many small messages in a row would wait 40 ms each for the acknowledgement of the former.
    Code ignored;
    std::ignore = stream.next_layer().set_option(tcp::no_delay(true), ignored);
    stream.async_handshake(response, url.host_header(), url.path,
                           [this](Code error) { connected(error); });
  }

  void connected(Code error) {
    if (error == websocket::condition::handshake_failed) {
      const Failure refused{fmt::format("the server answered HTTP {}, and does not speak WebSocket",
                                        response.result_int()),
                            true};
      --pending;
      if (!dropped) std::exchange(on_connected, {})(&refused);
    } else {
      finish(on_connected, error);
    }
  }

  void read_some() {
    ++pending;
    stream.async_read_some(asio::buffer(chunk),
                           [this](Code error, std::size_t size) { on_read(error, size); });
  }

  void on_read(Code error, std::size_t size) {
    --pending;
    if (dropped) return;
    if (error) {
      const Failure failure = failure_of(error);
      std::exchange(on_message, {})(&failure, {});
      return;
    }
    message.append(chunk, 0, size);
    const bool too_large = message.size() > max_message;
    if (!too_large && !stream.is_message_done()) return read_some();
    std::exchange(on_message, {})(nullptr,
                                  {std::exchange(message, {}), stream.got_text(), too_large});
  }

  Failure failure_of(Code error) const {
    if (error == websocket::error::closed) {
      const auto& reason = stream.reason();
      return {fmt::format("the manager closed the connection with code {} '{}'", reason.code,
                          std::string_view(reason.reason.data(), reason.reason.size()))};
    }
    return {error.message(), error == websocket::condition::protocol_violation};
  }

  void finish(Done& slot, Code error) {
    --pending;
    if (dropped) return;
    const Done done = std::exchange(slot, {});
    if (!error) return done(nullptr);
    const Failure failure = failure_of(error);
    done(&failure);
  }

  const std::size_t max_message;
  WebSocketUrl url;
  tcp::resolver resolver;
  websocket::stream<tcp::socket, false> stream;  // false: no compression, NNI's managers have none
  websocket::response_type response;
  std::string chunk, message, outgoing;
  Done on_connected, on_written, on_closed;
  OnMessage on_message;
  int pending = 0;
  bool dropped = false;
};

WebSocketConnection::WebSocketConnection(asio::io_context& io, std::size_t max_message)
    : impl_(std::make_unique<Impl>(io, max_message)) {}

WebSocketConnection::~WebSocketConnection() = default;

void WebSocketConnection::connect(const WebSocketUrl& url, Done done) {
  impl_->url = url;
  impl_->on_connected = std::move(done);
  impl_->resolve();
}

void WebSocketConnection::read(OnMessage on_message) {
  impl_->on_message = std::move(on_message);
  impl_->read_some();
}

void WebSocketConnection::write(std::string text, Done done) {
  impl_->on_written = std::move(done);
  impl_->outgoing = std::move(text);
  ++impl_->pending;
  impl_->stream.async_write(
      asio::buffer(impl_->outgoing),
      [impl = impl_.get()](Code error, std::size_t) { impl->finish(impl->on_written, error); });
}

void WebSocketConnection::close(std::uint16_t code, const std::string& reason, Done done) {
  impl_->on_closed = std::move(done);
  ++impl_->pending;
  impl_->stream.async_close(
      websocket::close_reason(static_cast<websocket::close_code>(code), reason),
      [impl = impl_.get()](Code error) { impl->finish(impl->on_closed, error); });
}

void WebSocketConnection::drop() {
  impl_->dropped = true;
  impl_->resolver.cancel();
  Code ignored;
  std::ignore = impl_->stream.next_layer().close(ignored);
}

bool WebSocketConnection::idle() const { return impl_->pending == 0; }

}  // namespace attune
