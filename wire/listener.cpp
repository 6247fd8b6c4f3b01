#include "wire/listener.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <map>
#include <tuple>
#include <utility>  // Boost 1.74's Asio forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/check.h"
#include "wire/host_port.h"
#include "wire/token.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Without descriptors the peer stays in the queue, and accept() fails again at once.
constexpr std::chrono::milliseconds kAcceptAgain{100};
// Whoever dials in a loop must not fill the disk.
constexpr int kLinesPerSecond = 5;

// Nothing that a stranger says needs more; of the values most are those of a worker's tasks.
constexpr JsonLimits kHelloLimits = {.depth = 16, .keys = 1000, .values = 100'000};

}  // namespace

class Listener::State : public std::enable_shared_from_this<State> {
 public:
  State(asio::io_context& io, ListenerOptions options, OnHello on_hello, const Log& log)
      : io_(io),
        options_(std::move(options)),
        on_hello_(std::move(on_hello)),
        log_(log.limited(kLinesPerSecond)),
        acceptor_(io),
        again_(io) {}

  Result<void> bind() {
    const HostPort where = TRY(parse_host_port(options_.address));
    error_code error;
    const auto found = tcp::resolver(io_).resolve(where.host, std::to_string(where.port),
                                                  tcp::resolver::passive, error);
    for (const auto& candidate : found) {
      error = bind_to(candidate.endpoint());
      if (!error) break;
    }
    if (error)
      return fail(fmt::format("cannot listen at {}: {}", options_.address, error.message()));
    const tcp::endpoint here = acceptor_.local_endpoint(error);
    address_ = HostPort{here.address().to_string(), here.port()}.text();
    return {};
  }

  void accept() {
    acceptor_.async_wait(tcp::acceptor::wait_read, [self = shared_from_this()](error_code error) {
      if (self->closed_ || error == asio::error::operation_aborted) return;
      self->take_one();
    });
  }

  void close() {
    closed_ = true;
    error_code ignored;
    std::ignore = acceptor_.close(ignored);
    std::ignore = again_.cancel(ignored);
    strangers_.clear();
  }

  const std::string& address() const { return address_; }

 private:
  struct Stranger {
    std::unique_ptr<Connection> connection;
    std::unique_ptr<asio::steady_timer> deadline;
  };

  error_code bind_to(const tcp::endpoint& endpoint) {
    error_code error;
    if (acceptor_.is_open()) std::ignore = acceptor_.close(error);
    // By hand: Asio's sockets would be inherited by what we start.
    const int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    UniqueFd socket(::socket(endpoint.protocol().family(), type, IPPROTO_TCP));
    if (!socket) return {errno, boost::system::system_category()};
    std::ignore = acceptor_.assign(endpoint.protocol(), socket.get(), error);
    if (error) return error;
    std::ignore = socket.release();
    // Connections of a former listener that are still dying do not keep the port.
    std::ignore = acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) std::ignore = acceptor_.bind(endpoint, error);
    if (!error) std::ignore = acceptor_.listen(asio::socket_base::max_listen_connections, error);
    return error;
  }

  void take_one() {
    UniqueFd socket(
        ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      receive(std::move(socket));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      log_.warning("cannot accept at {}: {}", address_,
                   error_code(errno, boost::system::system_category()).message());
      again_.expires_after(kAcceptAgain);
      again_.async_wait([self = shared_from_this()](error_code cancelled) {
        if (!cancelled && !self->closed_) self->accept();
      });
      return;
    }
    accept();
  }

  void receive(UniqueFd socket) {
    if (strangers_.size() >= options_.strangers) {
      log_.warning("{} is cut off without a hello: too many others wait",
                   strangers_.begin()->second.connection->peer());
      strangers_.erase(strangers_.begin());
    }
    ConnectionOptions careful = options_.connection;
    careful.frames.bytes = options_.hello_bytes;
    careful.frames.json = kHelloLimits;
    const std::uint64_t id = ++last_id_;
    Stranger& stranger = strangers_[id];
    stranger.connection = std::make_unique<Connection>(io_, std::move(socket), careful);
    stranger.deadline = std::make_unique<asio::steady_timer>(io_, options_.hello_within);
    stranger.deadline->async_wait([self = shared_from_this(), id](error_code cancelled) {
      if (!cancelled) self->too_late(id);
    });
    // Weak: the connection belongs to the state.
    stranger.connection->start({
        .on_message =
            [weak = weak_from_this(), id](json message) {
              if (const auto self = weak.lock()) self->greet(id, std::move(message));
            },
        .on_closed =
            [weak = weak_from_this(), id](const std::string& reason) {
              if (const auto self = weak.lock()) self->forget(id, reason);
            },
        .on_room = nullptr,
    });
  }

  void too_late(std::uint64_t id) {
    const auto found = strangers_.find(id);
    if (found == strangers_.end()) return;
    const double seconds = static_cast<double>(options_.hello_within.count()) / 1000;
    found->second.connection->refuse(fmt::format("no hello within {:g} s", seconds));
  }

  void greet(std::uint64_t id, json hello) {
    const auto found = strangers_.find(id);
    if (found == strangers_.end()) return;
    Connection& connection = *found->second.connection;
    if (const auto accepted = check(hello); !accepted) {
      return connection.refuse(accepted.error().message, true);
    }
    hello.erase("token");
    connection.pause_reading();
    connection.set_frame_limits(options_.connection.frames);
    auto known = std::move(found->second.connection);
    strangers_.erase(found);
    on_hello_(std::move(known), std::move(hello));
  }

  Result<void> check(const json& hello) const {
    if (hello.value("type", json()) != "hello") return fail("the first message must be a hello");
    const json version = hello.value("version", json());
    if (version != options_.version) {
      return fail(fmt::format("version {} is spoken here, not {}", options_.version,
                              version.is_number() ? dump_json(version) : json_type_name(version)));
    }
    const json token = hello.value("token", json());
    if (!token.is_string() || !token_matches(options_.token, token.get_ref<const std::string&>())) {
      return fail("the token is wrong");
    }
    if (!hello.value("role", json()).is_string()) return fail("'role' must be a text");
    return {};
  }

  void forget(std::uint64_t id, const std::string& reason) {
    const auto found = strangers_.find(id);
    if (found == strangers_.end()) return;
    log_.warning("{} is not let in: {}", found->second.connection->peer(), reason);
    strangers_.erase(found);
  }

  asio::io_context& io_;
  const ListenerOptions options_;
  const OnHello on_hello_;
  const Log log_;
  tcp::acceptor acceptor_;
  asio::steady_timer again_;
  std::string address_;
  bool closed_ = false;
  std::map<std::uint64_t, Stranger> strangers_;  // in the order in which they came
  std::uint64_t last_id_ = 0;
};

Result<std::unique_ptr<Listener>> Listener::listen(asio::io_context& io, ListenerOptions options,
                                                   OnHello on_hello, const Log& log) {
  ATTUNE_CHECK(!options.token.empty() && options.strangers > 0);
  auto state = std::make_shared<State>(io, std::move(options), std::move(on_hello), log);
  TRY(state->bind());
  state->accept();
  return std::unique_ptr<Listener>(new Listener(std::move(state)));
}

Listener::Listener(std::shared_ptr<State> state) : state_(std::move(state)) {}
Listener::~Listener() { state_->close(); }

const std::string& Listener::address() const { return state_->address(); }

}  // namespace attune
