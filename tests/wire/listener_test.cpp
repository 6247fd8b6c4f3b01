#include "wire/listener.h"

#include "tests/wire/wire_fixture.h"

namespace attune::listener_test {

using namespace attune::test;
using Catch::Contains;

const json kHello = {{"type", "hello"}, {"pid", 7}};
const Identity kSelf = {"worker", "w1"};

// What a stranger says first.
json stranger_with(const char* key, json value) {
  json hello = ClientHandshake(kSelf, kSecret, {}).hello();
  hello[key] = std::move(value);
  return hello;
}

struct ListenerWorld {
  explicit ListenerWorld(ListenerOptions options = {}) {
    options.secrets = {{"worker", kSecret}, {"client", kOtherSecret}};
    auto made = Listener::listen(
        io, options,
        [this](std::unique_ptr<Connection> connection, Identity peer, json hello) {
          peers.push_back(std::move(peer));
          hellos.push_back(std::move(hello));
          guests.push_back(std::move(connection));
          if (on_hello) on_hello();
        },
        Log());
    if (!made) FAIL(made.error().message);
    listener = std::move(*made);
  }
  bool run(const std::function<bool()>& enough) { return run_until(io, enough); }
  // One that knows the secret.
  std::unique_ptr<RawPeer> guest() {
    auto raw = std::make_unique<RawPeer>(io, listener->address());
    raw->read();
    raw->meet(kSelf, kSecret);
    return raw;
  }
  std::unique_ptr<RawPeer> stranger() {
    auto raw = std::make_unique<RawPeer>(io, listener->address());
    raw->read();
    settle(io);
    return raw;
  }

  boost::asio::io_context io;
  std::function<void()> on_hello;
  std::vector<Identity> peers;
  std::vector<json> hellos;
  std::vector<std::unique_ptr<Connection>> guests;
  std::unique_ptr<Listener> listener;
};

std::string error_at(const std::string& address) {
  boost::asio::io_context io;
  const auto made = Listener::listen(
      io, {.address = address, .secrets = {{"worker", kSecret}}},
      [](auto, const auto&, const auto&) {}, Log());
  return made ? "" : made.error().message;
}

TEST_CASE("listener: who knows the secret is handed over with all that follows") {
  ListenerWorld world;
  const auto raw = world.guest();
  raw->write(*encode_json_frame(kHello) + *encode_json_frame({{"type", "a"}}));
  REQUIRE(world.run([&] { return world.hellos.size() == 1; }));
  CHECK(world.hellos[0] == kHello);
  CHECK(world.peers[0] == kSelf);
  settle(world.io);
  Ear ear;
  ear.listen_to(std::move(world.guests[0]));
  REQUIRE(ear.connection->send({{"type", "welcome"}}));
  REQUIRE(world.run([&] { return !ear.messages.empty() && !raw->messages.empty(); }));
  CHECK(ear.messages == std::vector<json>{{{"type", "a"}}});
  CHECK(raw->messages == std::vector<json>{{{"type", "welcome"}}});
  CHECK(raw->heard.find("welcome") == std::string::npos);  // it was encrypted
  // Frames may be as large as they are allowed to be, now.
  raw->write(json{{"type", "b"}, {"text", std::string(200'000, 'x')}});
  REQUIRE(world.run([&] { return ear.messages.size() == 2; }));
}

TEST_CASE("listener: a stranger who says something else is refused with the reason") {
  const auto [message, reason] = GENERATE(table<json, std::string>({
      // The old wire: a hello with a token.
      {{{"type", "hello"}, {"version", 1}, {"token", "secret"}, {"role", "worker"}},
       "version 2 is spoken here, not 1"},
      {stranger_with("version", "2"), "version 2 is spoken here, not a string"},
      {stranger_with("role", 7), "'role' must be a text"},
      {stranger_with("role", "king"), "there is no role \"king\""},
      {stranger_with("type", "push"), "the first message must be a hello"},
      {json::object(), "the first message must be a hello"},
      {stranger_with("more", std::string(5'000, 'x')), "are over the limit of 4096"},
      {stranger_with("more", json::parse(std::string(10, '[') + std::string(10, ']'))),
       "nested deeper than 4"},
  }));
  ListenerWorld world;
  RawPeer raw(world.io, world.listener->address());
  raw.read();
  raw.write(message);
  REQUIRE(world.run([&] { return raw.ended; }));
  CHECK(world.hellos.empty());
  REQUIRE(raw.messages.size() == 1);
  CHECK(raw.messages[0]["type"] == "error");
  CHECK_THAT(raw.messages[0]["message"].get<std::string>(), Contains(reason));
  CHECK(raw.messages[0]["final"] == !message.contains("more"));
}

TEST_CASE("listener: who does not know the secret is refused after the challenge") {
  ListenerWorld world;
  RawPeer raw(world.io, world.listener->address());
  raw.read();
  raw.write(ClientHandshake(kSelf, kOtherSecret, draw_bytes()).hello());
  REQUIRE(world.run([&] { return raw.messages.size() == 1; }));
  CHECK(raw.messages[0]["type"] == "challenge");
  raw.write(json{{"type", "proof"}, {"proof", raw.messages[0]["proof"]}});
  REQUIRE(world.run([&] { return raw.ended; }));
  CHECK(raw.messages.back()["message"] == "the secret of role worker is another one");
  CHECK(world.hellos.empty());
}

TEST_CASE("listener: who passes on what both sides say cannot read or go on with it") {
  ListenerWorld world;
  RawPeer relay(world.io, world.listener->address());
  relay.read();
  ClientHandshake honest(kSelf, kSecret, draw_bytes());
  relay.write(honest.hello());
  REQUIRE(world.run([&] { return relay.messages.size() == 1; }));
  relay.write(*honest.answer(relay.messages[0]));
  // Now the relay is on its own: it has no key.
  relay.write(kHello);
  REQUIRE(world.run([&] { return relay.ended; }));
  CHECK(world.hellos.empty());
}

TEST_CASE("listener: the first words of who is known are limited and a hello") {
  const auto [message, reason] = GENERATE(table<json, std::string>({
      {{{"type", "push"}}, "the first message must be a hello"},
      {{{"type", "hello"}, {"more", std::string(70'000, 'x')}}, "are over the limit of 50000"},
      {{{"type", "hello"}, {"more", json::parse(std::string(30, '[') + std::string(30, ']'))}},
       "nested deeper than 16"},
  }));
  ListenerWorld world({.hello_bytes = 50'000});
  const auto raw = world.guest();
  raw->write(message);
  REQUIRE(world.run([&] { return raw->ended; }));
  CHECK(world.hellos.empty());
  REQUIRE(raw->messages.size() == 1);
  CHECK_THAT(raw->messages[0]["message"].get<std::string>(), Contains(reason));
}

TEST_CASE("listener: a worker may have ten thousand tasks when it comes back") {
  json running = json::array();
  for (int i = 0; i < 10'000; ++i) {
    running.push_back({{"task", "a-rather-long-experiment-name.t" + std::to_string(10'000 + i)},
                       {"lease", 1'000'000 + i}});
  }
  ListenerWorld world;
  const auto raw = world.guest();
  REQUIRE(world.run([&] { return raw->tls && raw->tls->established(); }));
  const std::string hello =
      raw->sealed(*encode_json_frame({{"type", "hello"}, {"running", running}}));
  constexpr std::size_t kPiece = 50'000;  // more might wait for a reader in this thread
  for (std::size_t at = 0; at < hello.size(); at += kPiece) {
    raw->write_bytes(hello.substr(at, kPiece));
    settle(world.io);
  }
  REQUIRE(world.run([&] { return raw->ended || world.hellos.size() == 1; }));
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

TEST_CASE("listener: who is in is not sent away for those who come later") {
  ListenerWorld world({.hello_within = 10min, .strangers = {4, 4}, .crowded_within = 10min});
  const auto known = world.guest();
  known->write(kHello);
  REQUIRE(world.run([&] { return world.hellos.size() == 1; }));
  std::vector<std::unique_ptr<RawPeer>> strangers;
  for (int i = 0; i < 40; ++i) strangers.push_back(world.stranger());
  const auto here = [&] {
    return std::ranges::count_if(strangers, [](const auto& each) { return !each->ended; });
  };
  REQUIRE(world.run([&] { return here() <= 4; }));
  settle(world.io);
  CHECK(here() == 4);
  CHECK(!known->ended);
  CHECK(strangers.back()->ended);
  REQUIRE(strangers.back()->messages.size() == 1);
  CHECK(strangers.back()->messages[0]["message"] == "too many others wait; try again");
  CHECK(strangers.back()->messages[0]["final"] == false);
  for (int i = 0; i < 3; ++i) CHECK(!strangers[static_cast<std::size_t>(i)]->ended);
  strangers[0]->meet(kSelf, kSecret);
  strangers[0]->write(kHello);
  REQUIRE(world.run([&] { return world.hellos.size() == 2; }));
}

TEST_CASE("listener: who has had long enough makes room while many come") {
  ListenerWorld world({.hello_within = 10min, .strangers = {4, 4}, .crowded_within = 1ms});
  std::vector<std::unique_ptr<RawPeer>> strangers;
  strangers.push_back(world.stranger());
  REQUIRE(world.run([&] {
    strangers.push_back(world.stranger());
    return strangers[0]->ended;
  }));
  CHECK(strangers[0]->messages.empty());
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
  const auto raw = world.guest();
  raw->write(kHello);
  REQUIRE(world.run([&] { return world.hellos.size() == 1; }));
  CHECK_THAT(world.guests[0]->peer(), Catch::StartsWith("[::1]:"));
}

TEST_CASE("listener: a port is free again when it is gone") {
  std::string address;
  {
    ListenerWorld world;
    address = world.listener->address();
    const auto raw = world.guest();
    raw->write(kHello);
    REQUIRE(world.run([&] { return world.hellos.size() == 1; }));
    world.guests.clear();
  }
  CHECK(error_at(address).empty());
}

TEST_CASE("listener: it may be destroyed out of its callback and with strangers") {
  ListenerWorld world;
  RawPeer stranger(world.io, world.listener->address());
  stranger.read();
  const auto raw = world.guest();
  settle(world.io);
  const bool keep = GENERATE(true, false);
  world.on_hello = [&] {
    world.listener.reset();
    if (!keep) world.guests.clear();
  };
  raw->write(kHello);
  REQUIRE(world.run([&] { return !world.listener && stranger.ended; }));
  if (keep) {
    world.guests[0]->refuse("no");
    REQUIRE(world.run([&] { return !raw->messages.empty(); }));
  } else {
    REQUIRE(world.run([&] { return raw->ended; }));
  }
}

TEST_CASE("listener: it may be destroyed after any number of events") {
  const int events = GENERATE(range(0, 30));
  ListenerWorld world;
  const auto good = world.guest();
  RawPeer bad(world.io, world.listener->address());
  bad.read();
  good->write(kHello);
  bad.write(stranger_with("nonce", "x"));
  for (int i = 0; i < events; ++i) world.io.poll_one();
  world.listener.reset();
  const std::size_t known = world.guests.size();
  world.guests.clear();
  REQUIRE(world.run([&] { return good->ended && bad.ended; }));
  CHECK(world.guests.empty());
  CHECK(known <= 1);
}

}  // namespace attune::listener_test
