#pragma once
// Real sockets on the loopback.
#include <fmt/format.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>  // Boost 1.74's Asio forgets it
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "tests/support/run_until.h"
#include "wire/connection.h"
#include "wire/handshake.h"
#include "wire/host_port.h"

namespace attune::test {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using boost::system::error_code;

// Everything that can be done without waiting.
inline void settle(boost::asio::io_context& io) {
  io.restart();
  while (io.poll_one() > 0) {
  }
}

inline json numbered(int number, std::size_t size = 0) {
  return {{"type", "x"}, {"number", number}, {"text", std::string(size, 't')}};
}

// Nothing of the system's takes more than this on the way.
inline constexpr int kSmallBuffer = 16 << 10;

inline const Secret kSecret(Bytes32{1, 2, 3}), kOtherSecret(Bytes32{4, 5, 6});

// A peer that knows nothing of connections. Reads only when it is told to.
class RawPeer {
 public:
  explicit RawPeer(tcp::socket connected) : socket(std::move(connected)) {}
  RawPeer(boost::asio::io_context& io, const std::string& address) : socket(io) {
    const HostPort where = *parse_host_port(address);
    socket.connect({boost::asio::ip::make_address(where.host), where.port});
  }
  // Proves itself, as who dials, and speaks encrypted from then on; what is written before waits.
  void meet(const Identity& self, const Secret& secret) {
    handshake.emplace(self, secret, draw_bytes());
    write_bytes(*encode_json_frame(handshake->hello()));
  }
  void write(const std::string& text) {
    if (handshake && !(tls && tls->established())) {
      waiting += text;
    } else {
      write_bytes(sealed(text));
    }
  }
  void write(const json& message) { write(*encode_json_frame(message)); }
  // As it goes over the network.
  std::string sealed(const std::string& text) {
    if (!tls) return text;
    REQUIRE(tls->write(text));
    return tls->take_ciphertext();
  }
  void write_bytes(const std::string& text) {
    error_code gone;
    socket.non_blocking(false, gone);
    boost::asio::write(socket, boost::asio::buffer(text), gone);
  }

  // From now on, until the end.
  void read() {
    socket.async_read_some(boost::asio::buffer(chunk), [this](error_code error, std::size_t size) {
      if (error == boost::asio::error::operation_aborted) return;
      if (error) {
        ended = true;
        socket.close();
        return;
      }
      bytes += size;
      take_in(std::string_view(chunk).substr(0, size));
      read();
    });
  }

  tcp::socket socket;
  std::string chunk = std::string(1 << 16, '\0');
  JsonFrameDecoder decoder;
  std::vector<json> messages;
  std::size_t bytes = 0;
  bool ended = false;
  std::string heard;  // all bytes, as they came
  std::optional<TlsSession> tls;

 private:
  void take_in(std::string_view came) {
    heard += came;
    if (tls) {
      std::ignore = tls->feed(came);
      decoder.feed(tls->take_plaintext());
      write_bytes(tls->take_ciphertext());
    } else {
      decoder.feed(came);
    }
    while (auto next = decoder.next().value_or(std::nullopt)) {
      if (handshake && !tls && (*next)["type"] == "challenge") {
        write_bytes(*encode_json_frame(handshake->answer(*next).value()));
        tls.emplace(TlsSession::Side::client, handshake->key());
        write_bytes(tls->take_ciphertext());
      } else {
        messages.push_back(*next);
      }
    }
    if (tls && tls->established() && !waiting.empty()) write(std::exchange(waiting, {}));
  }

  std::optional<ClientHandshake> handshake;
  std::string waiting;
};

// A connection with everything that it told.
class Ear {
 public:
  void listen_to(std::unique_ptr<Connection> other) {
    connection = std::move(other);
    connection->start({.on_message =
                           [this](json message) {
                             messages.push_back(std::move(message));
                             call(on_message);
                           },
                       .on_closed =
                           [this](const std::string& why) {
                             reasons.push_back(why);
                             call(on_closed);
                           },
                       .on_room =
                           [this] {
                             ++rooms;
                             call(on_room);
                           }});
  }

  std::unique_ptr<Connection> connection;
  std::function<void()> on_message, on_closed, on_room;
  std::vector<json> messages;
  std::vector<std::string> reasons;
  int rooms = 0;

 private:
  // A copy: what is called may replace it.
  static void call(std::function<void()> what) {
    if (what) what();
  }
};

// The two ends of one connection. `buffer`: of the system, in bytes, about; 0: its choice.
inline std::pair<tcp::socket, tcp::socket> socket_pair(boost::asio::io_context& io,
                                                       int buffer = 0) {
  tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0}, false);
  if (buffer > 0) acceptor.set_option(boost::asio::socket_base::receive_buffer_size(buffer));
  tcp::socket dialled(io);
  dialled.open(tcp::v4());
  if (buffer > 0) dialled.set_option(boost::asio::socket_base::send_buffer_size(buffer));
  dialled.connect(acceptor.local_endpoint());
  return {std::move(dialled), acceptor.accept()};
}

inline std::unique_ptr<Connection> connection_on(boost::asio::io_context& io, tcp::socket socket,
                                                 const ConnectionOptions& options = {}) {
  return std::make_unique<Connection>(io, UniqueFd(socket.release()), options);
}

// A connection with its ear, and a raw peer.
struct WireWorld {
  explicit WireWorld(const ConnectionOptions& options = {}, int buffer = 0) {
    auto [here, there] = socket_pair(io, buffer);
    raw = std::make_unique<RawPeer>(std::move(there));
    ear.listen_to(connection_on(io, std::move(here), options));
  }
  bool run(const std::function<bool()>& enough) { return run_until(io, enough); }
  bool run_to_end() {
    return run([this] { return !ear.reasons.empty(); });
  }

  boost::asio::io_context io;
  std::unique_ptr<RawPeer> raw;
  Ear ear;
};

}  // namespace attune::test
