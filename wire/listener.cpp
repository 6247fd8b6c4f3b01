#include "wire/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>  // Boost 1.74's Asio forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/check.h"
#include "wire/host_port.h"
#include "wire/secret.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// The pause after a failed accept(). If the process has no free descriptors, the peer stays in the
// queue, and accept() without a pause would fail again at once.
constexpr std::chrono::milliseconds kAcceptAgain{100};
// Of the log, for each kind of line: whoever dials in a loop must not fill the disk.
constexpr int kLinesPerSecond = 5;

// A worker names all its tasks in its hello, which therefore may have many values.
constexpr JsonLimits kHelloLimits = {.depth = 16, .keys = 1000, .values = 100'000};

// Nobody may foresee whom the gate turns away.
Rng drawn_rng() {
  const Bytes32 bytes = draw_bytes();
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < sizeof seed; ++i) seed = seed << 8 | bytes[i];
  return Rng(seed);
}

// The address at the gate to which a connection is counted. Of an IPv6 address only the first half:
// each machine can choose the rest as it likes.
std::string place_of(const sockaddr_storage& there) {
  char text[INET6_ADDRSTRLEN] = "";
  if (there.ss_family == AF_INET6) {
    in6_addr address = reinterpret_cast<const sockaddr_in6&>(there).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&address) != 0) {
      ::inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof text);
    } else {
      std::fill(address.s6_addr + 8, address.s6_addr + 16, std::uint8_t{0});
      ::inet_ntop(AF_INET6, &address, text, sizeof text);
    }
  } else if (there.ss_family == AF_INET) {
    const in_addr& address = reinterpret_cast<const sockaddr_in&>(there).sin_addr;
    ::inet_ntop(AF_INET, &address, text, sizeof text);
  }
  return text;
}

// Sends an error, as far as the system takes it at once; the caller then closes the socket.
void send_away(const UniqueFd& socket) {
  static const json kWord = {
      {"type", "error"}, {"message", "too many others wait; try again"}, {"final", false}};
  const auto frame = encode_json_frame(kWord);
  if (frame)
    std::ignore = ::send(socket.get(), frame->data(), frame->size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

class Listener::State : public std::enable_shared_from_this<State> {
 public:
  State(asio::io_context& io, ListenerOptions options, OnHello on_hello, const Log& log)
      : io_(io),
        options_(std::move(options)),
        on_hello_(std::move(on_hello)),
        log_(log.limited(kLinesPerSecond)),
        acceptor_(io),
        again_(io),
        gate_(options_.strangers, drawn_rng()) {}

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
    guests_.clear();
  }

  const std::string& address() const { return address_; }

 private:
  // A connection that was not given to on_hello yet: a stranger, or one whose hello is awaited.
  struct Guest {
    Guest(asio::io_context& io, const Secrets& secrets)
        : deadline(io), handshake(secrets, draw_bytes()) {}

    std::unique_ptr<Connection> connection;
    asio::steady_timer deadline;
    ServerHandshake handshake;
    std::string from;   // at the gate, whose places strangers take
    bool late = false;  // older than `crowded_within`
  };

  using Guests = std::map<std::uint64_t, Guest>;  // in the order in which they came

  error_code bind_to(const tcp::endpoint& endpoint) {
    error_code error;
    if (acceptor_.is_open()) std::ignore = acceptor_.close(error);
    // Without Asio, whose sockets are not close-on-exec: programs that we start would inherit them.
    const int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    UniqueFd socket(::socket(endpoint.protocol().family(), type, IPPROTO_TCP));
    if (!socket) return {errno, boost::system::system_category()};
    std::ignore = acceptor_.assign(endpoint.protocol(), socket.get(), error);
    if (error) return error;
    std::ignore = socket.release();
    // With this option connections of a former listener that are still closing do not keep the port
    // from us.
    std::ignore = acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) std::ignore = acceptor_.bind(endpoint, error);
    if (!error) std::ignore = acceptor_.listen(asio::socket_base::max_listen_connections, error);
    return error;
  }

  void take_one() {
    sockaddr_storage there = {};
    socklen_t size = sizeof there;
    UniqueFd socket(::accept4(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&there), &size,
                              SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      receive(std::move(socket), place_of(there));
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

  void receive(UniqueFd socket, const std::string& from) {
    clear_out(from);
    if (!gate_.admit(from)) {
      log_.warning("somebody from {} is sent away: too many others have not said who they are",
                   from);
      return send_away(socket);
    }
    ConnectionOptions careful = options_.connection;
    careful.frames = kHandshakeLimits;
    // No pings between the frames of the handshake: `hello_within` bounds all of it.
    careful.ping = careful.silence = 2 * options_.hello_within;
    const std::uint64_t id = ++last_id_;
    Guest& guest = guests_.try_emplace(id, io_, options_.secrets).first->second;
    guest.from = from;
    guest.connection = std::make_unique<Connection>(io_, std::move(socket), careful);
    await_late(id, guest);
    // Weak pointers, because the state owns the connection: shared ones would be a cycle.
    guest.connection->start({
        .on_message =
            [weak = weak_from_this(), id](json message) {
              if (const auto self = weak.lock()) self->hear(id, std::move(message));
            },
        .on_closed =
            [weak = weak_from_this(), id](const std::string& reason) {
              if (const auto self = weak.lock()) self->forget(id, reason);
            },
        .on_room = nullptr,
    });
  }

  // Strangers who are late make room while many come; the first that came go first.
  void clear_out(const std::string& from) {
    for (auto at = guests_.begin(); at != guests_.end();) {
      if (!gate_.crowded() && !gate_.crowded(from)) return;
      const auto here = at++;
      const Guest& guest = here->second;
      const bool in_the_way = gate_.crowded() || guest.from == from;
      if (!guest.late || guest.handshake.done() || !in_the_way) continue;
      log_.warning("{} is cut off without a proof: too many others wait", guest.connection->peer());
      erase(here);
    }
  }

  void await_late(std::uint64_t id, Guest& guest) {
    const auto first = std::min(options_.crowded_within, options_.hello_within);
    guest.deadline.expires_after(first);
    guest.deadline.async_wait([self = shared_from_this(), id, first](error_code cancelled) {
      const auto found = self->guests_.find(id);
      if (cancelled || found == self->guests_.end()) return;
      found->second.late = true;
      found->second.deadline.expires_after(self->options_.hello_within - first);
      found->second.deadline.async_wait([self, id](error_code also_cancelled) {
        if (!also_cancelled) self->too_late(id);
      });
    });
  }

  void too_late(std::uint64_t id) {
    const auto found = guests_.find(id);
    if (found == guests_.end()) return;
    const double seconds = static_cast<double>(options_.hello_within.count()) / 1000;
    refuse(found->second, fmt::format("no hello within {:g} s", seconds), false);
  }

  void hear(std::uint64_t id, json message) {
    const auto found = guests_.find(id);
    if (found == guests_.end()) return;
    if (found->second.handshake.done()) return greet(found, std::move(message));
    Guest& guest = found->second;
    const auto answer = guest.handshake.hear(message);
    if (!answer) return refuse(guest, answer.error().message, answer.error().final);
    if (!guest.handshake.done()) {
      std::ignore = guest.connection->send(*answer);  // small
      return;
    }
    gate_.leave(guest.from);
    guest.connection->set_frame_limits({options_.hello_bytes, kHelloLimits});
    guest.connection->secure(TlsSession(TlsSession::Side::server, guest.handshake.key()));
  }

  void greet(Guests::iterator found, json hello) {
    Guest& guest = found->second;
    if (hello.value("type", json()) != "hello")
      return refuse(guest, "the first message must be a hello", true);
    guest.connection->pause_reading();
    guest.connection->set_frame_limits(options_.connection.frames);
    guest.connection->set_intervals(options_.connection.ping, options_.connection.silence);
    auto known = std::move(guest.connection);
    const Identity peer = guest.handshake.peer();
    guests_.erase(found);
    on_hello_(std::move(known), peer, std::move(hello));
  }

  static void refuse(Guest& guest, const std::string& message, bool final) {
    guest.connection->refuse(message, final);
  }

  void forget(std::uint64_t id, const std::string& reason) {
    const auto found = guests_.find(id);
    if (found == guests_.end()) return;
    log_.warning("{} is not let in: {}", found->second.connection->peer(), reason);
    erase(found);
  }

  void erase(Guests::iterator guest) {
    if (!guest->second.handshake.done()) gate_.leave(guest->second.from);
    guests_.erase(guest);
  }

  asio::io_context& io_;
  const ListenerOptions options_;
  const OnHello on_hello_;
  const Log log_;
  tcp::acceptor acceptor_;
  asio::steady_timer again_;
  std::string address_;
  bool closed_ = false;
  StrangerGate gate_;
  Guests guests_;
  std::uint64_t last_id_ = 0;
};

Result<std::unique_ptr<Listener>> Listener::listen(asio::io_context& io, ListenerOptions options,
                                                   OnHello on_hello, const Log& log) {
  ATTUNE_CHECK(!options.secrets.empty());
  auto state = std::make_shared<State>(io, std::move(options), std::move(on_hello), log);
  TRY(state->bind());
  state->accept();
  return std::unique_ptr<Listener>(new Listener(std::move(state)));
}

Listener::Listener(std::shared_ptr<State> state) : state_(std::move(state)) {}
Listener::~Listener() { state_->close(); }

const std::string& Listener::address() const { return state_->address(); }

}  // namespace attune
