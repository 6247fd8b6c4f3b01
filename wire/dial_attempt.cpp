#include "wire/dial_attempt.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <tuple>
#include <utility>  // Boost 1.74's Asio forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "wire/host_port.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

// Seconds: a day. Longer intervals in a welcome are a mistake, and would overflow milliseconds.
constexpr double kLongestInterval = 86'400;
constexpr std::chrono::hours kLongHandshake{24};

Result<milliseconds> interval(const json& welcome, const char* name, milliseconds otherwise) {
  const auto found = welcome.find(name);
  if (found == welcome.end()) return otherwise;
  const double seconds = found->is_number() ? found->get<double>() : NAN;
  if (!(seconds >= 0.001 && seconds <= kLongestInterval)) {
    return fail(
        fmt::format("'{}' of its welcome is not 0.001 to {:g} seconds", name, kLongestInterval));
  }
  return milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

}  // namespace

class DialAttempt::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& io, const std::string& address, Identity self, const Secret& secret,
       json hello, const ConnectionOptions& options, Done done)
      : io_(io),
        address_(address),
        handshake_(std::move(self), secret, draw_bytes()),
        hello_(std::move(hello)),
        options_(options),
        done_(std::move(done)),
        resolver_(io),
        socket_(io),
        deadline_(io) {}

  void begin(milliseconds limit) {
    deadline_.expires_after(limit);
    deadline_.async_wait([self = shared_from_this(), limit](error_code cancelled) {
      if (cancelled) return;
      const double seconds = static_cast<double>(limit.count()) / 1000;
      self->failed(fmt::format("no answer from {} within {:g} s", self->address_, seconds));
    });
    // Posted, because `done` must not be called from within the constructor.
    asio::post(io_, [self = shared_from_this()] { self->resolve(); });
  }

  void end() {
    done_ = nullptr;
    error_code ignored;
    std::ignore = deadline_.cancel(ignored);
    resolver_.cancel();
    std::ignore = socket_.close(ignored);
    connection_.reset();
  }

 private:
  void finish(Outcome outcome) {
    if (!done_) return;
    const Done done = std::move(done_);
    end();
    done(std::move(outcome));
  }
  void failed(const std::string& reason, bool final = false) {
    finish({nullptr, nullptr, reason, final});
  }

  void resolve() {
    if (!done_) return;
    const auto where = parse_host_port(address_);
    if (!where) return failed(where.error().message);
    if (where->port == 0) return failed(address_ + ": the port is 0");
    error_code error;
    // Numeric addresses bypass the resolver, whose thread cannot be interrupted.
    const auto number = asio::ip::make_address(where->host, error);
    if (!error) {
      candidates_.emplace_back(number, where->port);
      return connect(error);
    }
    resolver_.async_resolve(
        where->host, std::to_string(where->port),
        [self = shared_from_this()](error_code failure, const tcp::resolver::results_type& found) {
          for (const auto& entry : found) self->candidates_.push_back(entry.endpoint());
          self->connect(failure);
        });
  }

  // Connects to the next candidate. `error` is why the last one failed.
  void connect(error_code error) {
    if (!done_) return;
    if (candidates_.empty()) {
      return failed(fmt::format("cannot connect to {}: {}", address_, error.message()));
    }
    const tcp::endpoint there = candidates_.front();
    candidates_.pop_front();
    if (socket_.is_open()) std::ignore = socket_.close(error);
    std::ignore = socket_.open(there.protocol(), error);
    if (error) return connect(error);
    ::fcntl(socket_.native_handle(), F_SETFD, FD_CLOEXEC);
    socket_.async_connect(there, [self = shared_from_this()](error_code failure) {
      if (!self->done_) return;
      if (failure) return self->connect(failure);
      self->say_hello();
    });
  }

  void say_hello() {
    error_code error;
    UniqueFd socket(socket_.release(error));
    if (error) return connect(error);
    ConnectionOptions careful = options_;
    careful.frames = kHandshakeLimits;
    // No pings between the frames of the handshake: `limit` bounds the whole attempt.
    careful.ping = careful.silence = kLongHandshake;
    connection_ = std::make_unique<Connection>(io_, std::move(socket), careful);
    // Weak pointers, because we own the connection: shared ones would be a cycle.
    connection_->start({
        .on_message =
            [weak = weak_from_this()](json message) {
              if (const auto self = weak.lock()) self->hear(std::move(message));
            },
        .on_closed =
            [weak = weak_from_this()](const std::string& reason) {
              const auto self = weak.lock();
              if (self) self->failed(fmt::format("{} gave no welcome: {}", self->address_, reason));
            },
        .on_room = nullptr,
    });
    say(handshake_.hello());
  }

  void say(const json& message) {
    if (!connection_) return;
    const auto sent = connection_->send(message);
    if (!sent) failed("cannot say hello: " + sent.error().message, true);
  }

  void meet(const json& challenge) {
    const auto proof = handshake_.answer(challenge);
    if (!proof) return failed(address_ + " " + proof.error().message, proof.error().final);
    met_ = true;
    connection_->set_frame_limits(options_.frames);
    say(*proof);
    connection_->secure(TlsSession(TlsSession::Side::client, handshake_.key()));
    say(hello_);
  }

  void hear(json message) {
    if (!done_) return;
    if (!met_) return meet(message);
    const json type = message.value("type", json());
    if (type == "error") {
      const json why = message.value("message", json());
      const bool final = message.value("final", json()) == true;
      return failed(fmt::format("{} refuses: {}", address_,
                                why.is_string() ? why.get<std::string>() : "it does not say why"),
                    final);
    }
    if (type != "welcome") {
      return failed(fmt::format("{} answers without a welcome: {}", address_,
                                dump_json(message).substr(0, 100)));
    }
    const auto ping = interval(message, "ping", options_.ping);
    const auto silence = interval(message, "silence", options_.silence);
    if (!ping) return failed(address_ + ": " + ping.error().message);
    if (!silence) return failed(address_ + ": " + silence.error().message);
    connection_->pause_reading();
    connection_->set_intervals(*ping, *silence);
    auto connection = std::move(connection_);
    finish({std::move(connection), std::move(message), "", false});
  }

  asio::io_context& io_;
  const std::string address_;
  ClientHandshake handshake_;
  const json hello_;
  const ConnectionOptions options_;
  Done done_;  // empty: the outcome was reported, or the attempt was ended
  tcp::resolver resolver_;
  std::deque<tcp::endpoint> candidates_;
  tcp::socket socket_;
  asio::steady_timer deadline_;
  std::unique_ptr<Connection> connection_;
  bool met_ = false;  // the other side knows the secret
};

DialAttempt::DialAttempt(asio::io_context& io, const std::string& address, Identity self,
                         const Secret& secret, json hello, const ConnectionOptions& options,
                         milliseconds limit, Done done)
    : impl_(std::make_shared<Impl>(io, address, std::move(self), secret, std::move(hello), options,
                                   std::move(done))) {
  impl_->begin(limit);
}
DialAttempt::~DialAttempt() { impl_->end(); }

}  // namespace attune
