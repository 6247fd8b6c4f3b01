// Any bytes from the other side of a connection, over loopback. The first one says to whom: to a
// listener or to a dialer, from a side that has proven itself, or in clear from a stranger. Either
// gets through with them, hands on objects only, and nothing that a stranger says.
#include <functional>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "tests/fuzz/fuzz.h"
#include "wire/dial_attempt.h"
#include "wire/listener.h"

using namespace attune;
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

void run_until(asio::io_context& io, const std::function<bool()>& enough) {
  for (int i = 0; i < 100'000 && !enough(); ++i) {
    io.restart();
    io.run_one_for(std::chrono::milliseconds(100));
  }
  ATTUNE_CHECK(enough());
}

// All of it, and then the end of what it says. The system takes so little at once.
void say(tcp::socket& socket, std::string_view bytes) {
  boost::system::error_code error;  // the other side may have gone
  asio::write(socket, asio::buffer(bytes.data(), bytes.size()), error);
  socket.shutdown(tcp::socket::shutdown_send, error);
}
void vanish(tcp::socket& socket) {
  boost::system::error_code error;
  socket.set_option(asio::socket_base::linger(true, 0), error);  // leaves no port behind
  socket.close(error);
}

// Whatever comes until the end.
void hear_out(asio::io_context& io, Connection& connection) {
  bool closed = false;
  connection.start({[](const json& message) {
                      ATTUNE_CHECK(message.is_object());
                      const json type = message.value("type", json());
                      ATTUNE_CHECK(type != "ping" && type != "pong");
                    },
                    [&](const std::string&) { closed = true; },
                    {}});
  run_until(io, [&] { return closed; });
}

const Secret kSecret(Bytes32{1});
const Secrets kSecrets = {{"worker", kSecret}};
const Identity kSelf = {"worker", "w"};

// The side that is not ours. Says its bytes at once, or when it has proven itself, encrypted.
class Peer {
 public:
  // What it says in clear to a frame of the handshake; nothing: it has proven itself, and has
  // `key`.
  using Meet = std::function<std::optional<json>(const json& heard)>;

  Peer(asio::io_context& io, std::string_view bytes) : socket(io), bytes_(bytes) {}

  void begin(bool in_clear, TlsSession::Side side, Meet meet) {
    side_ = side;
    meet_ = std::move(meet);
    if (in_clear) say(socket, bytes_);
    in_clear_ = in_clear;
    read();
  }
  void send(const json& message) { write(encode_json_frame(message).value()); }
  void encrypt(const Secret& key) {
    tls_.emplace(side_, key);
    take_in(frames_.take_rest());
  }

  tcp::socket socket;
  bool ended = false;

 private:
  void read() {
    socket.async_read_some(asio::buffer(chunk_),
                           [this](boost::system::error_code error, std::size_t size) {
                             ended = static_cast<bool>(error);
                             if (ended) return;
                             if (!in_clear_) take_in(std::string_view(chunk_).substr(0, size));
                             read();
                           });
  }
  void take_in(std::string_view came) {
    if (!tls_) {
      frames_.feed(came);
      while (!tls_) {
        const auto heard = frames_.next().value_or(std::nullopt);
        if (!heard) return;
        if (const auto answer = meet_(*heard)) send(*answer);
      }
      return;
    }
    static_cast<void>(tls_->feed(came));
    write(tls_->take_ciphertext());
    if (said_ || !tls_->established()) return;
    said_ = true;
    ATTUNE_CHECK(tls_->write(bytes_).has_value());
    tls_->finish();
    say(socket, tls_->take_ciphertext());
  }
  void write(const std::string& text) {
    boost::system::error_code error;
    asio::write(socket, asio::buffer(text), error);
  }

  const std::string_view bytes_;
  TlsSession::Side side_ = TlsSession::Side::client;
  Meet meet_;
  JsonFrameDecoder frames_;
  std::optional<TlsSession> tls_;
  std::string chunk_ = std::string(4096, '\0');
  bool in_clear_ = false, said_ = false;
};

void to_listener(std::string_view bytes, bool in_clear) {
  asio::io_context io;
  std::unique_ptr<Connection> guest;
  auto listener = Listener::listen(
      io, {.secrets = kSecrets},
      [&](std::unique_ptr<Connection> connection, const Identity& self, const json& hello) {
        // Nothing that was made up gets so far in clear.
        ATTUNE_CHECK(!in_clear && self == kSelf && hello["type"] == "hello");
        guest = std::move(connection);
      },
      Log());
  ATTUNE_CHECK(listener.has_value());
  const std::string& address = (*listener)->address();
  const auto port = std::stoul(address.substr(address.rfind(':') + 1));
  Peer peer(io, bytes);
  peer.socket.connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)});
  ClientHandshake handshake(kSelf, kSecret, draw_bytes());
  if (!in_clear) peer.send(handshake.hello());
  peer.begin(in_clear, TlsSession::Side::client, [&](const json& challenge) -> std::optional<json> {
    const auto proof = handshake.answer(challenge);
    ATTUNE_CHECK(proof.has_value());
    peer.send(*proof);
    peer.encrypt(handshake.key());
    return std::nullopt;
  });
  run_until(io, [&] { return peer.ended || guest != nullptr; });
  if (guest) hear_out(io, *guest);
  vanish(peer.socket);
}

void to_dialer(std::string_view bytes, bool in_clear) {
  asio::io_context io;
  tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  std::optional<DialAttempt::Outcome> outcome;
  const DialAttempt attempt(io, "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()),
                            kSelf, kSecret, {{"type", "hello"}}, {}, std::chrono::seconds(10),
                            [&](DialAttempt::Outcome made) { outcome = std::move(made); });
  Peer peer(io, bytes);
  bool accepted = false;
  acceptor.async_accept(peer.socket, [&](boost::system::error_code) { accepted = true; });
  run_until(io, [&] { return accepted; });
  ServerHandshake handshake(kSecrets, draw_bytes());
  peer.begin(in_clear, TlsSession::Side::server, [&](const json& said) -> std::optional<json> {
    const auto answer = handshake.hear(said);
    ATTUNE_CHECK(answer.has_value());
    if (!handshake.done()) return *answer;
    peer.encrypt(handshake.key());
    return std::nullopt;
  });
  run_until(io, [&] { return outcome.has_value(); });
  ATTUNE_CHECK(outcome->connection != nullptr || !outcome->reason.empty());
  ATTUNE_CHECK(!in_clear || outcome->connection == nullptr);
  if (outcome->connection) hear_out(io, *outcome->connection);
  vanish(peer.socket);
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const auto whom = static_cast<unsigned char>(input.front()) % 4;
  const bool in_clear = whom >= 2;
  whom % 2 == 0 ? to_listener(input.substr(1), in_clear) : to_dialer(input.substr(1), in_clear);
}
