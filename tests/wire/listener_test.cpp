#include "wire/listener.h"

#include "tests/wire/wire_fixture.h"

using namespace attune;
using namespace attune::test;
using Catch::Contains;

namespace {

const json kHello = {{"type", "hello"}, {"version", 1}, {"role", "worker"}, {"token", "secret"}};

json hello_with(const char* key, json value) {
  json hello = kHello;
  hello[key] = std::move(value);
  return hello;
}

struct ListenerWorld {
  explicit ListenerWorld(ListenerOptions options = {}) {
    options.token = "secret";
    auto made = Listener::listen(
        io, options,
        [this](std::unique_ptr<Connection> connection, json hello) {
          hellos.push_back(std::move(hello));
          guests.push_back(std::move(connection));
          if (on_hello) on_hello();
        },
        Log());
    if (!made) FAIL(made.error().message);
    listener = std::move(*made);
  }
  bool run(const std::function<bool()>& enough) { return run_until(io, enough); }

  boost::asio::io_context io;
  std::function<void()> on_hello;
  std::vector<json> hellos;
  std::vector<std::unique_ptr<Connection>> guests;
  std::unique_ptr<Listener> listener;
};

std::string error_at(const std::string& address) {
  boost::asio::io_context io;
  const auto made =
      Listener::listen(io, {.address = address, .token = "secret"}, [](auto, auto) {}, Log());
  return made ? "" : made.error().message;
}

}  // namespace

TEST_CASE("listener: who says hello with the token is handed over with all that follows") {
  ListenerWorld world;
  RawPeer raw(world.io, world.listener->address());
  raw.read();
  raw.write(*encode_json_frame(kHello) + *encode_json_frame({{"type", "a"}}));
  REQUIRE(world.run([&] { return world.hellos.size() == 1; }));
  CHECK(world.hellos[0] == json{{"type", "hello"}, {"version", 1}, {"role", "worker"}});
  settle(world.io);
  Ear ear;
  ear.listen_to(std::move(world.guests[0]));
  REQUIRE(ear.connection->send({{"type", "welcome"}}));
  REQUIRE(world.run([&] { return !ear.messages.empty() && !raw.messages.empty(); }));
  CHECK(ear.messages == std::vector<json>{{{"type", "a"}}});
  CHECK(raw.messages == std::vector<json>{{{"type", "welcome"}}});
  // Frames may be as large as they are allowed to be, now.
  raw.write(json{{"type", "b"}, {"text", std::string(200'000, 'x')}});
  REQUIRE(world.run([&] { return ear.messages.size() == 2; }));
}

TEST_CASE("listener: who says something else is refused with the reason") {
  const auto [message, reason] = GENERATE(table<json, std::string>({
      {hello_with("token", "Secret"), "the token is wrong"},
      {hello_with("token", nullptr), "the token is wrong"},
      {hello_with("version", 2), "version 1 is spoken here, not 2"},
      {hello_with("version", "1"), "version 1 is spoken here, not a string"},
      {hello_with("version", 1.5), "not 1.5"},
      {hello_with("role", 7), "'role' must be a text"},
      {hello_with("type", "push"), "the first message must be a hello"},
      {json::object(), "the first message must be a hello"},
      {hello_with("more", std::string(70'000, 'x')), "are over the limit of 50000"},
      {hello_with("more", json::parse(std::string(30, '[') + std::string(30, ']'))),
       "nested deeper than 16"},
  }));
  ListenerWorld world({.hello_bytes = 50'000});
  RawPeer raw(world.io, world.listener->address());
  raw.read();
  raw.write(message);
  REQUIRE(world.run([&] { return raw.ended; }));
  CHECK(world.hellos.empty());
  REQUIRE(raw.messages.size() == 1);
  CHECK(raw.messages[0]["type"] == "error");
  CHECK_THAT(raw.messages[0]["message"].get<std::string>(), Contains(reason));
  CHECK(raw.messages[0]["final"] == (message.dump().size() < 1000 && !message.contains("more")));
}

TEST_CASE("listener: a worker may have ten thousand tasks when it comes back") {
  json running = json::array();
  for (int i = 0; i < 10'000; ++i) {
    running.push_back({{"task", "a-rather-long-experiment-name.t" + std::to_string(10'000 + i)},
                       {"lease", 1'000'000 + i}});
  }
  ListenerWorld world;
  RawPeer raw(world.io, world.listener->address());
  raw.read();
  const std::string hello = *encode_json_frame(hello_with("running", running));
  constexpr std::size_t kPiece = 50'000;  // more might wait for a reader in this thread
  for (std::size_t at = 0; at < hello.size(); at += kPiece) {
    raw.write(hello.substr(at, kPiece));
    settle(world.io);
  }
  REQUIRE(world.run([&] { return raw.ended || world.hellos.size() == 1; }));
  REQUIRE(world.hellos.size() == 1);
  CHECK(world.hellos[0]["running"] == running);
}

TEST_CASE("listener: who says nothing is refused after a while") {
  ListenerWorld world({.hello_within = 20ms});
  RawPeer raw(world.io, world.listener->address());
  raw.read();
  raw.write(std::string("\0\0\0\5{", 5));
  REQUIRE(world.run([&] { return raw.ended; }));
  REQUIRE(raw.messages.size() == 1);
  CHECK(raw.messages[0]["message"] == "no hello within 0.02 s");
}

TEST_CASE("listener: of too many strangers the oldest goes and who is known stays") {
  ListenerWorld world({.strangers = 3});
  RawPeer known(world.io, world.listener->address());
  known.read();
  known.write(kHello);
  REQUIRE(world.run([&] { return world.hellos.size() == 1; }));
  std::vector<std::unique_ptr<RawPeer>> strangers;
  for (int i = 0; i < 5; ++i) {
    strangers.push_back(std::make_unique<RawPeer>(world.io, world.listener->address()));
    strangers.back()->read();
    settle(world.io);
  }
  REQUIRE(world.run([&] { return strangers[0]->ended && strangers[1]->ended; }));
  strangers[2]->write(kHello);
  REQUIRE(world.run([&] { return world.hellos.size() == 2; }));
  CHECK(!known.ended);
  CHECK(!strangers[3]->ended);
  CHECK(!strangers[4]->ended);
}

TEST_CASE("listener: addresses are bound and what cannot be is said") {
  ListenerWorld world;
  CHECK_THAT(world.listener->address(), Catch::StartsWith("127.0.0.1:"));
  CHECK(parse_host_port(world.listener->address())->port != 0);
  CHECK_THAT(error_at(world.listener->address()),
             Contains("cannot listen at " + world.listener->address()) &&
                 Contains("Address already in use"));
  CHECK(error_at("localhost:0").empty());
  CHECK_THAT(error_at("localhost"), Contains("the port is missing"));
  CHECK_THAT(error_at("no..host:0"), Contains("cannot listen at no..host:0: "));
  CHECK_THAT(error_at("192.0.2.1:0"), Contains("Cannot assign requested address"));
}

TEST_CASE("listener: IPv6 where this machine has it") {
  if (const std::string error = error_at("[::1]:0"); !error.empty()) {
    CHECK_THAT(error, Contains("cannot listen at [::1]:0"));
    return;
  }
  ListenerWorld world({.address = "[::1]:0"});
  CHECK_THAT(world.listener->address(), Catch::StartsWith("[::1]:"));
  RawPeer raw(world.io, world.listener->address());
  raw.write(kHello);
  REQUIRE(world.run([&] { return world.hellos.size() == 1; }));
  CHECK_THAT(world.guests[0]->peer(), Catch::StartsWith("[::1]:"));
}

TEST_CASE("listener: a port is free again when it is gone") {
  std::string address;
  {
    ListenerWorld world;
    address = world.listener->address();
    RawPeer raw(world.io, address);
    raw.write(kHello);
    REQUIRE(world.run([&] { return world.hellos.size() == 1; }));
    world.guests.clear();
  }
  CHECK(error_at(address).empty());
}

TEST_CASE("listener: it may be destroyed out of its callback and with strangers") {
  ListenerWorld world;
  RawPeer stranger(world.io, world.listener->address());
  stranger.read();
  RawPeer raw(world.io, world.listener->address());
  raw.read();
  settle(world.io);
  const bool keep = GENERATE(true, false);
  world.on_hello = [&] {
    world.listener.reset();
    if (!keep) world.guests.clear();
  };
  raw.write(kHello);
  REQUIRE(world.run([&] { return !world.listener && stranger.ended; }));
  if (keep) {
    world.guests[0]->refuse("no");
    REQUIRE(world.run([&] { return !raw.messages.empty(); }));
  } else {
    REQUIRE(world.run([&] { return raw.ended; }));
  }
}

TEST_CASE("listener: it may be destroyed after any number of events") {
  const int events = GENERATE(range(0, 30));
  ListenerWorld world;
  RawPeer good(world.io, world.listener->address());
  RawPeer bad(world.io, world.listener->address());
  good.read();
  bad.read();
  good.write(kHello);
  bad.write(hello_with("token", "x"));
  for (int i = 0; i < events; ++i) world.io.poll_one();
  world.listener.reset();
  const std::size_t known = world.guests.size();
  world.guests.clear();
  REQUIRE(world.run([&] { return good.ended && bad.ended; }));
  CHECK(world.guests.empty());
  CHECK(known <= 1);
}
