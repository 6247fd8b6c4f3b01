#pragma once
// Real sockets on the loopback.
#include <fmt/format.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <functional>
#include <tuple>
#include <utility>  // Boost 1.74's Asio forgets it
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "tests/support/run_until.h"
#include "wire/connection.h"
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

// A peer that knows nothing of frames. Reads only when it is told to.
class RawPeer {
 public:
  explicit RawPeer(tcp::socket connected) : socket(std::move(connected)) {}
  RawPeer(boost::asio::io_context& io, const std::string& address) : socket(io) {
    const HostPort where = *parse_host_port(address);
    socket.connect({boost::asio::ip::make_address(where.host), where.port});
  }
  void write(const std::string& text) {
    socket.non_blocking(false);
    boost::asio::write(socket, boost::asio::buffer(text));
  }
  void write(const json& message) { write(*encode_json_frame(message)); }

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
      decoder.feed(std::string_view(chunk).substr(0, size));
      while (auto next = decoder.next().value_or(std::nullopt)) messages.push_back(*next);
      read();
    });
  }

  tcp::socket socket;
  std::string chunk = std::string(1 << 16, '\0');
  JsonFrameDecoder decoder;
  std::vector<json> messages;
  std::size_t bytes = 0;
  bool ended = false;
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
