#include "daemon/websocket_connection.h"

#include <fmt/format.h>
#include <netinet/tcp.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/websocket.hpp>
#include <tuple>

namespace attune {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using Code = boost::system::error_code;

constexpr std::size_t kReadSize = 64 << 10;

// A socket that Beast shuts down without waiting for the other side.
class Transport : public tcp::socket {
 public:
  using tcp::socket::socket;
};

// Beast calls this when a connection ends: after the closing handshake, and when the other side has
// broken the protocol. Its own function waits there until the other side ends the connection, too.
// One that stays silent would hold the error back for ever, and one that resets the connection
// would put another error in its place.
template <class Handler>
void async_teardown(boost::beast::role_type, Transport& socket, Handler&& handler) {
  Code ignored;
  std::ignore = socket.shutdown(tcp::socket::shutdown_send, ignored);
  asio::post(socket.get_executor(),
             [handler = std::forward<Handler>(handler)]() mutable { handler(Code()); });
}

}  // namespace

// The handlers hold plain pointers, and `pending` counts them. Shared ones would make a cycle: an
// operation that waits for another one to end is stored inside the stream.
struct WebSocketConnection::Impl {
  Impl(asio::io_context& io, std::size_t max)
      : max_message(max), resolver(io), stream(io), chunk(kReadSize, '\0') {
    stream.read_message_max(0);  // none: on_read() has a limit, and leaves the connection open
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
    notice_vanished_machine();
    stream.async_handshake(response, url.host_header(), url.path,
                           [this](Code error) { connected(error); });
  }

  // A manager whose machine has vanished closes nothing: the system asks for it, and ends the
  // connection after two minutes without an answer.
  void notice_vanished_machine() {
    Code ignored;
    std::ignore = stream.next_layer().set_option(asio::socket_base::keep_alive(true), ignored);
    for (const auto& [option, value] :
         {std::pair(TCP_KEEPIDLE, 60), {TCP_KEEPINTVL, 10}, {TCP_KEEPCNT, 6}}) {
      ::setsockopt(stream.next_layer().native_handle(), IPPROTO_TCP, option, &value, sizeof value);
    }
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
    if (skipping) {
      skipping = !stream.is_message_done();
      return read_some();
    }
    message.append(chunk, 0, size);
    const bool too_large = message.size() > max_message;
    if (!too_large && !stream.is_message_done()) return read_some();
    skipping = !stream.is_message_done();
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
  websocket::stream<Transport, false> stream;  // false: no compression, NNI's managers have none
  websocket::response_type response;
  std::string chunk, message, outgoing;
  Done on_connected, on_written, on_closed;
  OnMessage on_message;
  bool skipping = false;  // what follows belongs to a message that was too large
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

// The handlers of all operations still come, with errors. They see `dropped`, and call nobody.
void WebSocketConnection::drop() {
  impl_->dropped = true;
  impl_->resolver.cancel();
  Code ignored;
  std::ignore = impl_->stream.next_layer().close(ignored);
}

bool WebSocketConnection::idle() const { return impl_->pending == 0; }

}  // namespace attune
