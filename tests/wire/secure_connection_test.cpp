// Connections that encrypt what they carry.
#include <algorithm>

#include "tests/wire/wire_fixture.h"

namespace attune::secure_connection_test {

using namespace attune::test;
using Catch::Contains;

// Between two sockets; shows all that passes to `look`, which may change it.
class Relay {
 public:
  Relay(tcp::socket one, tcp::socket other) : one_(std::move(one)), other_(std::move(other)) {
    pass(one_, other_, there_);
    pass(other_, one_, back_);
  }
  void cut() {
    error_code ignored;
    std::ignore = one_.close(ignored);
    std::ignore = other_.close(ignored);
  }

  std::function<void(std::string& bytes)> look;
  std::string seen;

 private:
  void pass(tcp::socket& from, tcp::socket& to, std::string& chunk) {
    chunk.resize(1 << 16);
    from.async_read_some(boost::asio::buffer(chunk), [&](error_code error, std::size_t size) {
      if (error == boost::asio::error::operation_aborted) return;
      error_code ignored;
      if (error) {
        std::ignore = to.shutdown(tcp::socket::shutdown_send, ignored);
        return;
      }
      chunk.resize(size);
      seen += chunk;
      if (look) look(chunk);
      boost::asio::async_write(to, boost::asio::buffer(chunk), [&](error_code gone, std::size_t) {
        if (!gone) pass(from, to, chunk);
      });
    });
  }

  tcp::socket one_, other_;
  std::string there_, back_;
};

// Two connections that agree on encryption in their first messages, as dialer and listener do.
struct SecureWorld {
  explicit SecureWorld(const ConnectionOptions& options = {}, int buffer = 0,
                       const Secret& other_key = kSecret) {
    auto [here, near] = socket_pair(io, buffer);
    auto [far, there] = socket_pair(io, buffer);
    relay = std::make_unique<Relay>(std::move(near), std::move(far));
    one.on_message = [this] {
      one.on_message = nullptr;
      REQUIRE(one.connection->send({{"type", "proof"}}));
      one.connection->secure(TlsSession(TlsSession::Side::client, kSecret));
      REQUIRE(one.connection->send(numbered(0)));  // waits for the handshake
    };
    other.on_message = [this, other_key] {
      other.on_message = nullptr;
      other.connection->secure(TlsSession(TlsSession::Side::server, other_key));
    };
    one.listen_to(connection_on(io, std::move(here), options));
    other.listen_to(connection_on(io, std::move(there), options));
    REQUIRE(other.connection->send({{"type", "challenge"}}));
  }
  bool run(const std::function<bool()>& enough) { return run_until(io, enough); }
  // The second message is the first one that was encrypted.
  void begin() {
    REQUIRE(run([&] { return other.messages.size() == 2; }));
    CHECK(other.messages[0] == json{{"type", "proof"}});
    CHECK(other.messages[1] == numbered(0));
    one.messages.clear();
    other.messages.clear();
  }

  boost::asio::io_context io;
  std::unique_ptr<Relay> relay;
  Ear one, other;
};

TEST_CASE("secure connection: messages arrive whole and in order and nobody reads along") {
  SecureWorld world;
  world.begin();
  for (int i = 0; i < 100; ++i) {
    REQUIRE(world.one.connection->send(numbered(i, static_cast<std::size_t>(i) * 1000)));
    REQUIRE(world.other.connection->send(numbered(-i)));
  }
  REQUIRE(world.run(
      [&] { return world.one.messages.size() == 100 && world.other.messages.size() == 100; }));
  for (int i = 0; i < 100; ++i) {
    CHECK(world.other.messages[static_cast<std::size_t>(i)] ==
          numbered(i, static_cast<std::size_t>(i) * 1000));
    CHECK(world.one.messages[static_cast<std::size_t>(i)] == numbered(-i));
  }
  CHECK(world.relay->seen.find("proof") != std::string::npos);
  CHECK(world.relay->seen.find("number") == std::string::npos);
  CHECK(world.relay->seen.find("tttt") == std::string::npos);
  CHECK(world.one.connection->outgoing_bytes() == 0);
}

TEST_CASE("secure connection: urgent messages overtake data when the other side does not read") {
  SecureWorld world({}, kSmallBuffer);
  world.begin();
  world.other.connection->pause_reading();
  for (int i = 0; i < 60; ++i) REQUIRE(world.one.connection->send(numbered(i, 50'000)));
  settle(world.io);
  REQUIRE(world.one.connection->outgoing_bytes() > 1'000'000);
  REQUIRE(world.one.connection->send(numbered(100), Connection::Lane::urgent));
  world.other.connection->resume_reading();
  REQUIRE(world.run([&] { return world.other.messages.size() == 61; }));
  std::vector<int> order;
  for (const json& message : world.other.messages) order.push_back(message["number"]);
  const auto urgent = std::ranges::find(order, 100);
  REQUIRE(urgent != order.end());
  CHECK(urgent - order.begin() < 30);
  order.erase(urgent);
  CHECK(std::ranges::is_sorted(order));
}

TEST_CASE("secure connection: who does not take what is sent is cut off") {
  SecureWorld world({.congested_bytes = 10'000, .most_outgoing_bytes = 300'000}, kSmallBuffer);
  world.begin();
  world.other.connection->pause_reading();
  while (world.one.reasons.empty()) {
    REQUIRE(world.one.connection->send(numbered(0, 10'000)));
    CHECK(world.one.connection->outgoing_bytes() <= 300'000);
    settle(world.io);
  }
  CHECK_THAT(world.one.reasons[0], Contains("bytes wait for the other side"));
}

TEST_CASE("secure connection: a byte that is changed on the way ends it and gives nothing") {
  SecureWorld world;
  world.begin();
  world.relay->look = [&](std::string& bytes) {
    bytes[bytes.size() / 2] ^= 1;
    world.relay->look = nullptr;
  };
  REQUIRE(world.one.connection->send(numbered(1)));
  REQUIRE(world.run([&] { return !world.other.reasons.empty() && !world.one.reasons.empty(); }));
  CHECK(world.other.messages.empty());
  CHECK_THAT(world.other.reasons[0], Contains("the encryption fails: "));
}

TEST_CASE("secure connection: another key ends it before anything is said") {
  SecureWorld world({}, 0, kOtherSecret);
  REQUIRE(world.run([&] { return !world.other.reasons.empty() && !world.one.reasons.empty(); }));
  CHECK(world.other.messages == std::vector<json>{{{"type", "proof"}}});
  CHECK_THAT(world.other.reasons[0], Contains("the encryption fails: "));
}

TEST_CASE("secure connection: an end is told from a cut") {
  SecureWorld world;
  world.begin();
  const bool cut = GENERATE(true, false);
  REQUIRE(world.one.connection->send(numbered(1)));
  if (cut) {
    REQUIRE(world.run([&] { return world.other.messages.size() == 1; }));
    world.relay->cut();
  } else {
    world.one.connection->close("enough");
  }
  REQUIRE(world.run([&] { return !world.other.reasons.empty(); }));
  CHECK(world.other.messages == std::vector<json>{numbered(1)});
  CHECK(world.other.reasons[0] == (cut ? "the connection was cut" : "the other side has closed"));
}

TEST_CASE("secure connection: last words leave although nobody holds it any more") {
  SecureWorld world;
  world.begin();
  world.one.connection->refuse("not you", true);
  world.one.connection.reset();
  REQUIRE(world.run([&] { return !world.other.reasons.empty(); }));
  CHECK(world.other.messages ==
        std::vector<json>{{{"type", "error"}, {"message", "not you"}, {"final", true}}});
}

TEST_CASE("secure connection: two quiet sides keep each other alive") {
  SecureWorld world({.ping = 10ms, .silence = 10s});
  world.begin();
  const std::size_t before = world.relay->seen.size();
  REQUIRE(world.run([&] { return world.relay->seen.size() > before + 500; }));
  CHECK(world.one.reasons.empty());
  CHECK(world.other.reasons.empty());
  CHECK(world.one.messages.empty());
}

TEST_CASE("secure connection: it may be destroyed after any number of events") {
  const int events = GENERATE(range(0, 40));
  SecureWorld world({.congested_bytes = 50'000, .ping = 1ms, .silence = 10s}, kSmallBuffer);
  for (int i = 0; i < events; ++i) world.io.poll_one();
  for (int i = 0; i < 10; ++i) REQUIRE(world.one.connection->send(numbered(i, 10'000)));
  for (int i = 0; i < events; ++i) world.io.poll_one();
  if (events % 3 == 0) world.one.connection->close("enough");
  // Where it was sent in clear the other side has closed already.
  const std::size_t told = world.one.reasons.size();
  world.one.connection.reset();
  REQUIRE(world.run([&] { return !world.other.reasons.empty(); }));
  CHECK(world.one.reasons.size() == told);
}

}  // namespace attune::secure_connection_test
