#include "dashboard/http_server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <list>
#include <optional>
#include <tuple>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "dashboard/listening_sockets.h"
#include "os/trust.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Code = boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;
using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

constexpr std::size_t kWritePart = 64 << 10;

HttpResponse plain_error(int status, const std::string& why) {
  return HttpResponse::text(status, "text/plain; charset=utf-8", why + "\n");
}

}  // namespace

// A socket at which clients connect.
struct HttpServer::Listener {
  Listener(Acceptor opened, asio::io_context& io) : acceptor(std::move(opened)), pause(io) {}

  Acceptor acceptor;
  asio::steady_timer pause;  // after an error of accept()
};

struct HttpServer::State {
  State(asio::io_context& context, Handler handle, BodyLimit body, const HttpLimits& most)
      : io(context), handler(std::move(handle)), body_limit(std::move(body)), limits(most) {}

  asio::io_context& io;
  Handler handler;  // empty: the server is gone
  BodyLimit body_limit;
  HttpLimits limits;
  ListeningSockets sockets;
  std::list<Listener> listeners;  // with the acceptors of `sockets`
  // Those that wait for their client. The one that has waited for longest is first.
  std::list<Connection*> waiting;
  std::list<Connection*> all;
};

// One client. It lives as long as an operation of it is pending, or somebody holds its answer.
class HttpServer::Connection final : public HttpAnswer,
                                     public EventStream,
                                     public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, std::shared_ptr<State> state)
      : socket_(std::move(socket)), timer_(state->io), state_(std::move(state)) {
    state_->all.push_front(this);
    place_ = state_->all.begin();
  }
  ~Connection() override {
    no_longer_waits();
    state_->all.erase(place_);
  }

  void start() { await(); }

  void drop() {
    Code error;
    open_ = false;
    no_longer_waits();
    timer_.cancel();
    std::ignore = socket_.close(error);
  }

  // ---- HttpAnswer
  void send(HttpResponse response) override {
    if (answered_ || !open_) return;
    answered_ = true;
    response_ = std::move(response);
    head_ = head_of(response_);
    write(response_.body && parser_->get().method() != http::verb::head ? response_.body : nullptr,
          &Connection::written);
  }

  std::shared_ptr<EventStream> stream() override {
    answered_ = true;
    keep_ = false;
    streams_ = true;
    response_ = {.status = 200, .type = "text/event-stream", .body = nullptr};
    head_ = head_of(response_);
    write(nullptr, &Connection::event_written);
    watch_end();
    return shared_from_this();
  }

  // ---- EventStream
  void send(const std::string& name, const std::string& id, const std::string& data) override {
    next_ = "event: " + name + "\n";
    if (!id.empty()) next_ += "id: " + id + "\n";
    // A line end within the data would end its line.
    std::string_view rest = data;
    while (true) {
      const std::size_t end = rest.find_first_of("\r\n");
      next_ += fmt::format("data: {}\n", rest.substr(0, end));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    next_ += "\n";
    write_event();
  }
  void keep_alive() override {
    if (next_.empty()) next_ = ": alive\n\n";
    write_event();
  }
  void close() override { drop(); }
  bool is_open() const override { return open_; }

 private:
  using Done = void (Connection::*)();

  // Waits for the first byte of a request, then for all of it.
  void await() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(state_->limits.header_bytes));
    parser_->body_limit(state_->limits.body_bytes);
    answered_ = false;
    wait_last();
    if (buffer_.size() > 0) return read();
    limit(state_->limits.idle);
    socket_.async_wait(Socket::wait_read, [self = shared_from_this()](Code error) {
      if (!error) self->read();
    });
  }

  void read() {
    wait_last();  // before those that send nothing, but slow ones must not keep all places
    limit(state_->limits.request);
    http::async_read_header(
        socket_, buffer_, *parser_,
        [self = shared_from_this()](Code error, std::size_t) { self->got_head(error); });
  }

  void got_head(Code error) {
    if (error || !open_ || parser_->is_done()) return got(error);
    const auto head = request_head();
    const std::size_t most = head ? state_->body_limit(*head) : 0;
    if (parser_->content_length_remaining().value_or(0) > most)
      return got(http::make_error_code(http::error::body_limit));
    parser_->body_limit(most);
    http::async_read(socket_, buffer_, *parser_,
                     [self = shared_from_this()](Code code, std::size_t) { self->got(code); });
  }

  void got(Code error) {
    no_longer_waits();
    timer_.cancel();
    if (error == http::error::header_limit) return refuse(431, "the request's header is too large");
    if (error == http::error::body_limit) return refuse(413, "the request's body is too large");
    if (error == http::error::end_of_stream || !open_) return drop();
    if (error.category() == http::make_error_code(http::error::bad_method).category())
      return refuse(400, "this is no HTTP request: " + error.message());
    if (error) return drop();
    keep_ = parser_->keep_alive();
    auto request = request_head();
    if (!request) return refuse(400, request.error().message);
    request->body = std::move(parser_->get().body());
    if (!state_->handler) return drop();
    state_->handler(*std::move(request), shared_from_this());
  }

  Result<HttpRequest> request_head() const {
    const auto& head = parser_->get();
    HttpRequest request;
    request.target = TRY(parse_target({head.target().data(), head.target().size()}));
    request.method = std::string(head.method_string());
    for (const auto& field : head) {
      request.headers.emplace_back(
          lower_case({field.name_string().data(), field.name_string().size()}),
          std::string(field.value()));
    }
    return request;
  }

  // Answers a request that was not read to its end, so the connection cannot be used again.
  void refuse(int status, const std::string& why) {
    keep_ = false;
    send(plain_error(status, why));
  }

  std::string head_of(const HttpResponse& response) const {
    std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status,
                                   std::string(http::obsolete_reason(http::int_to_status(
                                       static_cast<unsigned>(response.status)))));
    if (response.status != 204 && response.status != 304)
      head += fmt::format("Content-Type: {}\r\n", response.type);
    if (!streams_)
      head += fmt::format("Content-Length: {}\r\n", response.body ? response.body->size() : 0);
    head += keep_ ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
    for (const auto& [name, value] : response.headers)
      head += fmt::format("{}: {}\r\n", name, value);
    return head + "\r\n";
  }

  // Writes `head_` and the body.
  void write(const std::shared_ptr<const std::string>& body, Done done) {
    writing_ = true;
    const std::array<asio::const_buffer, 2> buffers = {
        asio::buffer(head_), body ? asio::buffer(*body) : asio::const_buffer()};
    // Called before each part that is written.
    const auto next_part = [self = shared_from_this()](Code error, std::size_t) {
      if (error || !self->open_) return std::size_t{0};
      self->limit(self->state_->limits.write);
      if (!self->streams_) self->wait_last();
      return kWritePart;
    };
    asio::async_write(socket_, buffers, next_part,
                      [self = shared_from_this(), body, done](Code error, std::size_t) {
                        self->writing_ = false;
                        self->timer_.cancel();
                        if (error || !self->open_) return self->drop();
                        (*self.*done)();
                      });
  }

  void written() {
    response_ = {};
    if (keep_) return await();
    // The client may still send, such as the rest of a body that is too large. If the socket were
    // closed at once, the system would answer that with a reset, and the client might not see why.
    Code error;
    std::ignore = socket_.shutdown(Socket::shutdown_send, error);
    limit(state_->limits.request);
    wait_last();
    drain();
  }

  void drain() {
    socket_.async_read_some(asio::buffer(rest_),
                            [self = shared_from_this()](Code error, std::size_t) {
                              return error ? self->drop() : self->drain();
                            });
  }

  void write_event() {
    if (writing_ || next_.empty() || !open_) return;
    head_ = std::exchange(next_, {});
    write(nullptr, &Connection::event_written);
  }
  void event_written() { write_event(); }

  // A client that leaves shows it by the end of what it sends.
  void watch_end() {
    socket_.async_read_some(asio::buffer(rest_),
                            [self = shared_from_this()](Code error, std::size_t) {
                              return error ? self->drop() : self->watch_end();
                            });
  }

  void limit(std::chrono::milliseconds time) {
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this()](Code error) {
      if (const auto self = weak.lock(); self && !error) self->drop();
    });
  }

  void wait_last() {
    no_longer_waits();
    state_->waiting.push_back(this);
    waits_ = std::prev(state_->waiting.end());
  }
  void no_longer_waits() {
    if (waits_) state_->waiting.erase(*std::exchange(waits_, std::nullopt));
  }

  Socket socket_;
  asio::steady_timer timer_;
  std::shared_ptr<State> state_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  HttpResponse response_;
  std::string head_, next_;
  std::array<char, 512> rest_ = {};
  bool open_ = true, keep_ = false, answered_ = false, streams_ = false, writing_ = false;
  std::list<Connection*>::iterator place_;
  std::optional<std::list<Connection*>::iterator> waits_;
};

HttpServer::HttpServer(std::shared_ptr<State> state) : state_(std::move(state)) {}

// To cancel a timer could throw as declared, but does not.
// NOLINTNEXTLINE(bugprone-exception-escape)
HttpServer::~HttpServer() {
  state_->handler = nullptr;
  Code error;
  for (Listener& listener : state_->listeners) {
    std::ignore = listener.acceptor.close(error);
    listener.pause.cancel();
  }
  for (Connection* connection : state_->all) connection->drop();
  if (!state_->sockets.socket_file.empty()) ::unlink(state_->sockets.socket_file.c_str());
}

const std::string& HttpServer::address() const { return state_->sockets.address; }
bool HttpServer::is_loopback() const { return state_->sockets.loopback; }

Result<std::unique_ptr<HttpServer>> HttpServer::listen(asio::io_context& io,
                                                       const std::string& address, Handler handler,
                                                       BodyLimit body_limit, HttpLimits limits) {
  auto state = std::make_shared<State>(io, std::move(handler), std::move(body_limit), limits);
  state->sockets = TRY(open_listening_sockets(io, address));
  for (Acceptor& acceptor : state->sockets.acceptors)
    accept(state, state->listeners.emplace_back(std::move(acceptor), io));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

void HttpServer::accept(const std::shared_ptr<State>& state, Listener& listener) {
  listener.acceptor.async_accept([state, &listener](Code error, Socket socket) {
    if (!state->handler) return;
    if (error) {  // such as too many open files: try again soon, the socket stays readable
      listener.pause.expires_after(std::chrono::milliseconds(100));
      listener.pause.async_wait([state, &listener](Code ended) {
        if (!ended && state->handler) accept(state, listener);
      });
      return;
    }
    bool room = state->all.size() < state->limits.connections;
    if (!room && !state->waiting.empty()) {
      state->waiting.front()->drop();
      room = true;
    }
    const bool stranger =
        !state->sockets.socket_file.empty() && !check_peer(socket.native_handle());
    // Without room all others are at work: the client must come again.
    if (room && !stranger) std::make_shared<Connection>(std::move(socket), state)->start();
    accept(state, listener);
  });
}

}  // namespace attune
