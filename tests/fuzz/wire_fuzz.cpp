// Any bytes from the other side of a connection, over loopback. The first one says to whom: an even
// one to a listener, else as the answer to a dialer. Either gets through with them, and hands on
// objects only.
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "tests/fuzz/fuzz.h"
#include "wire/dial_attempt.h"
#include "wire/listener.h"
#include "wire/wire_version.h"

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

void to_listener(std::string_view bytes) {
  asio::io_context io;
  std::unique_ptr<Connection> guest;
  auto listener = Listener::listen(
      io, {.token = "secret"},
      [&](std::unique_ptr<Connection> connection, const json& hello) {
        ATTUNE_CHECK(hello["role"].is_string() && !hello.contains("token"));
        guest = std::move(connection);
      },
      Log());
  ATTUNE_CHECK(listener.has_value());
  const std::string& address = (*listener)->address();
  const auto port = std::stoul(address.substr(address.rfind(':') + 1));
  tcp::socket raw(io);
  raw.connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)});
  say(raw, bytes);
  bool ended = false;
  std::string heard(4096, '\0');
  std::function<void()> read = [&] {
    raw.async_read_some(asio::buffer(heard), [&](boost::system::error_code error, std::size_t) {
      ended = static_cast<bool>(error);
      if (!error) read();
    });
  };
  read();
  run_until(io, [&] { return ended || guest != nullptr; });
  if (guest) hear_out(io, *guest);
  vanish(raw);
}

void to_dialer(std::string_view bytes) {
  asio::io_context io;
  tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  std::optional<DialAttempt::Outcome> outcome;
  const DialAttempt attempt(
      io, "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()),
      {{"type", "hello"}, {"version", kWireVersion}, {"role", "worker"}, {"token", "secret"}}, {},
      std::chrono::seconds(10), [&](DialAttempt::Outcome made) { outcome = std::move(made); });
  tcp::socket raw(io);
  bool accepted = false;
  acceptor.async_accept(raw, [&](boost::system::error_code) { accepted = true; });
  run_until(io, [&] { return accepted; });
  say(raw, bytes);
  run_until(io, [&] { return outcome.has_value(); });
  ATTUNE_CHECK(outcome->connection != nullptr || !outcome->reason.empty());
  if (outcome->connection) hear_out(io, *outcome->connection);
  vanish(raw);
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const bool listens = static_cast<unsigned char>(input.front()) % 2 == 0;
  listens ? to_listener(input.substr(1)) : to_dialer(input.substr(1));
}
