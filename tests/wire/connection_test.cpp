#include <algorithm>

#include "tests/wire/wire_fixture.h"

namespace attune::connection_test {

using namespace attune::test;
using Catch::Contains;

TEST_CASE("connection: messages arrive whole and in order in both directions") {
  boost::asio::io_context io;
  auto [here, there] = socket_pair(io);
  Ear one, other;
  one.listen_to(connection_on(io, std::move(here)));
  other.listen_to(connection_on(io, std::move(there)));
  for (int i = 0; i < 300; ++i) {
    REQUIRE(one.connection->send(numbered(i, static_cast<std::size_t>(i) * 100)));
    REQUIRE(other.connection->send(numbered(-i)));
  }
  REQUIRE(
      run_until(io, [&] { return one.messages.size() == 300 && other.messages.size() == 300; }));
  for (int i = 0; i < 300; ++i) {
    CHECK(other.messages[static_cast<std::size_t>(i)] ==
          numbered(i, static_cast<std::size_t>(i) * 100));
    CHECK(one.messages[static_cast<std::size_t>(i)] == numbered(-i));
  }
  CHECK(one.reasons.empty());
  CHECK(one.connection->outgoing_bytes() == 0);
}

TEST_CASE("connection: a frame may come byte by byte") {
  WireWorld world;
  for (const char byte : *encode_json_frame(numbered(1)) + *encode_json_frame(numbered(2))) {
    world.raw->write(std::string(1, byte));
    settle(world.io);
  }
  REQUIRE(world.run([&] { return world.ear.messages.size() == 2; }));
  CHECK(world.ear.messages[1] == numbered(2));
}

TEST_CASE("connection: garbage and huge frames are answered by an error and the end") {
  const auto [bytes, reason] = GENERATE(table<std::string, std::string>({
      {"GET / HTTP/1.1\r\n\r\n", "are over the limit of"},
      {std::string("\x7f\xff\xff\xff", 4), "are over the limit of"},
      {std::string("\0\0\0\2[]", 6), "a JSON object is expected, not an array"},
      {std::string("\0\0\0\3{a}", 7), "invalid JSON"},
  }));
  WireWorld world;
  world.raw->read();
  world.raw->write(*encode_json_frame(numbered(1)) + bytes);
  REQUIRE(world.run([&] { return world.raw->ended; }));
  CHECK(world.ear.messages.size() == 1);
  REQUIRE(world.raw->messages.size() == 1);
  CHECK(world.raw->messages[0]["type"] == "error");
  CHECK(world.raw->messages[0]["final"] == false);
  CHECK_THAT(world.raw->messages[0]["message"].get<std::string>(), Contains(reason));
  world.raw->socket.close();
  REQUIRE(world.run_to_end());
  CHECK_THAT(world.ear.reasons[0], Contains("frame 2: ") && Contains(reason));
}

TEST_CASE("connection: what came before the other side closed is given and then the end once") {
  WireWorld world;
  const bool whole = GENERATE(true, false);
  world.ear.connection->pause_reading();
  world.raw->write(*encode_json_frame(numbered(1)) + (whole ? "" : std::string("\0\0", 2)));
  world.raw->socket.close();
  settle(world.io);
  CHECK(world.ear.messages.empty());
  world.ear.connection->resume_reading();
  REQUIRE(world.run_to_end());
  settle(world.io);
  CHECK(world.ear.messages.size() == 1);
  CHECK(world.ear.reasons ==
        std::vector<std::string>{whole ? "the other side has closed"
                                       : "the other side has closed in the middle of a frame"});
}

TEST_CASE("connection: last words of a side that does not read are heard") {
  WireWorld world({}, kSmallBuffer);
  for (int i = 0; i < 20; ++i) REQUIRE(world.ear.connection->send(numbered(i, 50'000)));
  settle(world.io);
  REQUIRE(world.ear.connection->outgoing_bytes() > 0);
  world.raw->write(numbered(1));
  world.raw->socket.close();  // with bytes that it has not read: a reset
  REQUIRE(world.run_to_end());
  CHECK(world.ear.messages == std::vector<json>{numbered(1)});
}

TEST_CASE("connection: pings are answered and neither they nor pongs are given") {
  WireWorld world;
  world.raw->read();
  world.raw->write(json{{"type", "ping"}});
  world.raw->write(json{{"type", "pong"}});
  world.raw->write(numbered(1));
  REQUIRE(world.run([&] { return !world.raw->messages.empty() && !world.ear.messages.empty(); }));
  CHECK(world.raw->messages == std::vector<json>{{{"type", "pong"}}});
  CHECK(world.ear.messages == std::vector<json>{numbered(1)});
}

TEST_CASE("connection: a peer that never says anything is pinged and then cut off") {
  WireWorld world({.ping = 10ms, .silence = 40ms});
  world.raw->read();
  REQUIRE(world.run([&] { return world.raw->ended; }));
  CHECK(world.ear.reasons == std::vector<std::string>{"silent for 0.04 s"});
  REQUIRE(!world.raw->messages.empty());
  CHECK(world.raw->messages.size() <= 6);
  CHECK(world.raw->messages[0] == json{{"type", "ping"}});
}

TEST_CASE("connection: a peer that does not even read is cut off too") {
  WireWorld world({.ping = 10ms, .silence = 40ms}, kSmallBuffer);
  for (int i = 0; i < 20; ++i) REQUIRE(world.ear.connection->send(numbered(i, 100'000)));
  REQUIRE(world.run_to_end());
  CHECK(world.ear.reasons[0] == "silent for 0.04 s");
}

TEST_CASE("connection: two quiet sides keep each other alive") {
  boost::asio::io_context io;
  auto [here, there] = socket_pair(io);
  Ear one, other;
  one.listen_to(connection_on(io, std::move(here), {.ping = 10ms, .silence = 40ms}));
  other.listen_to(connection_on(io, std::move(there), {.ping = 10s, .silence = 20s}));
  // As long as some that get no answer live, one after the other.
  for (int i = 0; i < 4; ++i) {
    auto [near, far] = socket_pair(io);
    Ear unanswered;
    unanswered.listen_to(connection_on(io, std::move(near), {.ping = 10ms, .silence = 40ms}));
    REQUIRE(run_until(io, [&] { return !unanswered.reasons.empty(); }));
  }
  CHECK(one.reasons.empty());
  CHECK(other.reasons.empty());
}

TEST_CASE("connection: the silence of a peer that is not read is not counted") {
  WireWorld world({.ping = 10ms, .silence = 40ms});
  world.ear.connection->pause_reading();
  world.raw->read();
  REQUIRE(world.run([&] { return world.raw->messages.size() >= 12; }));
  CHECK(world.ear.reasons.empty());
  world.ear.connection->resume_reading();
  REQUIRE(world.run_to_end());
  CHECK(world.ear.reasons[0] == "silent for 0.04 s");
}

TEST_CASE("connection: urgent messages overtake data when the other side does not read") {
  WireWorld world({}, kSmallBuffer);
  for (int i = 0; i < 60; ++i) REQUIRE(world.ear.connection->send(numbered(i, 50'000)));
  settle(world.io);  // as much as the system takes
  const std::size_t waiting = world.ear.connection->outgoing_bytes();
  REQUIRE(waiting > 1'000'000);
  REQUIRE(world.ear.connection->send(numbered(100), Connection::Lane::urgent));
  REQUIRE(world.ear.connection->send(numbered(101), Connection::Lane::urgent));
  world.raw->read();
  REQUIRE(world.run([&] { return world.raw->messages.size() == 62; }));
  std::vector<int> order;
  for (const json& message : world.raw->messages) order.push_back(message["number"]);
  const auto urgent = std::ranges::find(order, 100);
  REQUIRE(urgent != order.end());
  CHECK(urgent[1] == 101);
  CHECK(urgent - order.begin() < 30);
  order.erase(urgent, urgent + 2);
  CHECK(std::ranges::is_sorted(order));
}

TEST_CASE("connection: congestion is told and its end too") {
  WireWorld world({.congested_bytes = 1 << 20}, kSmallBuffer);
  int sent = 0;
  while (!world.ear.connection->congested()) {
    REQUIRE(world.ear.connection->send(numbered(sent++, 10'000)));
    settle(world.io);
  }
  CHECK(world.ear.rooms == 0);
  CHECK(world.ear.connection->outgoing_bytes() < (1 << 20) + 11'000);
  world.raw->read();
  REQUIRE(world.run([&] { return world.ear.rooms > 0; }));
  CHECK(world.ear.connection->outgoing_bytes() <= 1 << 19);
  REQUIRE(world.run([&] { return static_cast<int>(world.raw->messages.size()) == sent; }));
  CHECK(world.ear.rooms == 1);
}

TEST_CASE("connection: a producer that heeds congestion stays within its memory") {
  WireWorld world({.congested_bytes = 200'000}, kSmallBuffer);
  int sent = 0;
  std::size_t most = 0;
  const auto produce = [&] {
    while (!world.ear.connection->congested() && sent < 1000)
      REQUIRE(world.ear.connection->send(numbered(sent++, 10'000)));
    most = std::max(most, world.ear.connection->outgoing_bytes());
  };
  world.ear.on_room = produce;
  produce();
  world.raw->read();
  REQUIRE(world.run([&] { return world.raw->messages.size() == 1000; }));
  CHECK(most < 212'000);
}

TEST_CASE("connection: who does not take what is sent is cut off") {
  WireWorld world({.congested_bytes = 10'000, .most_outgoing_bytes = 300'000}, kSmallBuffer);
  while (world.ear.reasons.empty()) {
    REQUIRE(world.ear.connection->send(numbered(0, 10'000)));
    CHECK(world.ear.connection->outgoing_bytes() <= 300'000);
    settle(world.io);
  }
  CHECK_THAT(world.ear.reasons[0], Contains("bytes wait for the other side"));
  CHECK(world.ear.connection->send(numbered(0)));
}

TEST_CASE("connection: a side that pauses slows the other one down") {
  boost::asio::io_context io;
  auto [here, there] = socket_pair(io, kSmallBuffer);
  Ear fast, slow;
  fast.listen_to(connection_on(io, std::move(here), {.congested_bytes = 100'000}));
  slow.listen_to(connection_on(io, std::move(there)));
  slow.connection->pause_reading();
  int sent = 0;
  const auto produce = [&] {
    while (!fast.connection->congested() && sent < 500)
      REQUIRE(fast.connection->send(numbered(sent++, 10'000)));
  };
  fast.on_room = produce;
  produce();
  settle(io);
  CHECK(sent < 500);
  CHECK(slow.messages.empty());
  slow.on_message = [&] {
    slow.connection->pause_reading();
    slow.connection->resume_reading();
  };
  slow.connection->resume_reading();
  REQUIRE(run_until(io, [&] { return slow.messages.size() == 500; }));
  CHECK(slow.messages[499] == numbered(499, 10'000));
}

TEST_CASE("connection: a flood of pings from a peer that does not read costs nothing") {
  WireWorld world({}, kSmallBuffer);
  for (int i = 0; i < 30; ++i) REQUIRE(world.ear.connection->send(numbered(i, 50'000)));
  settle(world.io);
  const std::size_t before = world.ear.connection->outgoing_bytes();
  REQUIRE(before > 500'000);
  for (int i = 0; i < 2000; ++i) {
    world.raw->write(json{{"type", "ping"}});
    settle(world.io);
  }
  CHECK(world.ear.connection->outgoing_bytes() < before + 1000);
}

TEST_CASE("connection: close sends what was sent before and then says why") {
  WireWorld world;
  for (int i = 0; i < 50; ++i) REQUIRE(world.ear.connection->send(numbered(i, 50'000)));
  world.ear.connection->close("enough");
  REQUIRE(world.ear.connection->send(numbered(99)));  // too late
  CHECK(world.ear.reasons.empty());
  world.raw->write(numbered(1));  // nobody wants it, and it does no harm
  world.raw->read();
  REQUIRE(world.run([&] { return world.raw->ended; }));
  CHECK(world.raw->messages.size() == 50);
  world.raw->socket.close();
  REQUIRE(world.run_to_end());
  CHECK(world.ear.reasons == std::vector<std::string>{"enough"});
  CHECK(world.ear.messages.empty());
}

TEST_CASE("connection: a farewell does not last for ever") {
  WireWorld world({.farewell = 20ms}, kSmallBuffer);
  for (int i = 0; i < 50; ++i) REQUIRE(world.ear.connection->send(numbered(i, 50'000)));
  world.ear.connection->close("enough");
  REQUIRE(world.run_to_end());
  CHECK(world.ear.reasons == std::vector<std::string>{"enough"});
}

TEST_CASE("connection: last words leave although nobody holds the connection any more") {
  WireWorld world;
  world.ear.connection->refuse("not you", true);
  world.ear.connection.reset();
  world.raw->read();
  REQUIRE(world.run([&] { return world.raw->ended; }));
  CHECK(world.raw->messages ==
        std::vector<json>{{{"type", "error"}, {"message", "not you"}, {"final", true}}});
  CHECK(world.ear.reasons.empty());
}

TEST_CASE("connection: a message that is too large is an error and nothing is sent") {
  WireWorld world({.frames = {.bytes = 100}});
  CHECK_THAT(world.ear.connection->send(numbered(0, 100)).error().message,
             Contains("over the limit of 100"));
  CHECK(world.ear.connection->outgoing_bytes() == 0);
}

TEST_CASE("connection: what is no connected socket is told as the end") {
  boost::asio::io_context io;
  UniqueFd fd;
  if (GENERATE(true, false)) fd.reset(::socket(AF_INET, SOCK_STREAM, 0));
  Ear ear;
  ear.listen_to(std::make_unique<Connection>(io, std::move(fd), ConnectionOptions{}));
  CHECK(ear.reasons.empty());
  REQUIRE(run_until(io, [&] { return !ear.reasons.empty(); }));
  CHECK_THAT(ear.reasons[0], Contains("no socket") || Contains("not connected"));
}

TEST_CASE("connection: somebody else takes over in the middle") {
  WireWorld world;
  Ear later;
  world.ear.on_message = [&] {
    world.ear.connection->pause_reading();
    later.listen_to(std::move(world.ear.connection));
  };
  world.raw->write(*encode_json_frame(numbered(1)) + *encode_json_frame(numbered(2)));
  world.raw->socket.close();
  REQUIRE(world.run([&] { return !later.reasons.empty(); }));
  CHECK(world.ear.messages == std::vector<json>{numbered(1)});
  CHECK(later.messages == std::vector<json>{numbered(2)});
  CHECK(world.ear.reasons.empty());
}

TEST_CASE("connection: it may be destroyed out of each of its callbacks") {
  WireWorld world({.congested_bytes = 10'000}, kSmallBuffer);
  Ear& ear = world.ear;
  const auto destroy = [&] { ear.connection.reset(); };
  const int which = GENERATE(0, 1, 2);
  (which == 0 ? ear.on_message : which == 1 ? ear.on_room : ear.on_closed) = destroy;
  for (int i = 0; i < 20; ++i) REQUIRE(ear.connection->send(numbered(i, 20'000)));
  if (which == 2) ear.connection->drop("enough");
  if (which == 0) {
    world.raw->write(*encode_json_frame(numbered(1)) + *encode_json_frame(numbered(2)));
  }
  if (which == 1) world.raw->read();
  REQUIRE(world.run([&] { return !ear.connection; }));
  settle(world.io);
  CHECK(ear.messages.size() == (which == 0 ? 1 : 0));
  CHECK(ear.rooms == (which == 1 ? 1 : 0));
  CHECK(ear.reasons.size() == (which == 2 ? 1 : 0));
}

TEST_CASE("connection: it may be destroyed after any number of events") {
  const int events = GENERATE(range(0, 60));
  boost::asio::io_context io;
  auto [here, there] = socket_pair(io, kSmallBuffer);
  Ear one, other;
  const ConnectionOptions options{.congested_bytes = 50'000, .ping = 1ms, .silence = 10s};
  one.listen_to(connection_on(io, std::move(here), options));
  other.listen_to(connection_on(io, std::move(there), options));
  for (int i = 0; i < 10; ++i) {
    REQUIRE(one.connection->send(numbered(i, 10'000)));
    REQUIRE(other.connection->send(numbered(i, 30'000)));
  }
  for (int i = 0; i < events; ++i) io.poll_one();
  const std::size_t heard = one.messages.size();
  if (events % 3 == 0) one.connection->close("enough");
  one.connection.reset();
  REQUIRE(run_until(io, [&] { return !other.reasons.empty(); }));
  CHECK(one.messages.size() == heard);
  CHECK(one.reasons.empty());
}

TEST_CASE("connection: an event loop that ends first leaves nothing behind") {
  auto world = std::make_unique<WireWorld>(ConnectionOptions{}, kSmallBuffer);
  for (int i = 0; i < 20; ++i) REQUIRE(world->ear.connection->send(numbered(i, 50'000)));
  settle(world->io);
  world->ear.connection->close("enough");
  world->ear.connection.reset();
  world.reset();  // under the address sanitizer: neither leaks nor touches what is gone
}

}  // namespace attune::connection_test
