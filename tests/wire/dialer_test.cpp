#include "wire/dialer.h"

#include "os/atomic_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/wire/wire_fixture.h"
#include "wire/address_file.h"
#include "wire/listener.h"

namespace attune::dialer_test {

using namespace attune::test;
using Catch::Contains;

const Identity kSelf = {"worker", "w1"};

// A dialer, with everything that it told; and listeners that welcome, or do what is asked.
struct DialerWorld {
  std::unique_ptr<Listener> listen(const Secret& secret = kSecret,
                                   const std::string& address = "127.0.0.1:0") {
    auto made = Listener::listen(
        io, {.address = address, .secrets = {{"worker", secret}}},
        [this](std::unique_ptr<Connection> connection, const Identity& peer, json hello) {
          CHECK(peer == kSelf);
          hellos.push_back(std::move(hello));
          if (answer.is_null()) {
            connection->refuse("not today");
          } else {
            REQUIRE(connection->send(answer));
          }
          guests.push_back(std::move(connection));
        },
        Log());
    if (!made) FAIL(made.error().message);
    return std::move(*made);
  }
  void dial(DialerOptions options) {
    options.first_pause = 1ms;
    options.longest_pause = 8ms;
    dialer = std::make_unique<Dialer>(
        io, options, kSelf, Rng(1),
        Dialer::Handlers{.hello = [this] { return json{{"try", ++tries}, {"running", "a task"}}; },
                         .on_connected =
                             [this](std::unique_ptr<Connection> connection, json welcome) {
                               welcomes.push_back(std::move(welcome));
                               ear = std::make_unique<Ear>();
                               ear->listen_to(std::move(connection));
                             },
                         .on_state =
                             [this](DialState state, const std::string& reason) {
                               states.push_back(state);
                               reasons.push_back(reason);
                               if (on_state) on_state(state);
                             }});
    dialer->dial();
  }
  bool run(const std::function<bool()>& enough) { return run_until(io, enough); }
  bool run_to_welcome(std::size_t count = 1) {
    return run([this, count] { return welcomes.size() == count; });
  }
  bool run_to_state(DialState state, long count = 1) {
    return run([this, state, count] { return std::ranges::count(states, state) >= count; });
  }

  boost::asio::io_context io;
  TemporaryFolder folder;
  json answer = {{"type", "welcome"}, {"epoch", 3}};
  std::vector<json> hellos, welcomes;
  std::vector<std::unique_ptr<Connection>> guests;
  std::function<void(DialState)> on_state;
  std::vector<DialState> states;
  std::vector<std::string> reasons;
  int tries = 0;
  std::unique_ptr<Ear> ear;
  std::unique_ptr<Dialer> dialer;
};

using enum DialState;

TEST_CASE("dialer: says hello and hands over the connection with the welcome") {
  DialerWorld world;
  const auto listener = world.listen();
  world.dial({.address = listener->address(), .secret = kSecret});
  CHECK(world.states.empty());
  REQUIRE(world.run_to_welcome());
  CHECK(world.welcomes[0] == world.answer);
  CHECK(world.hellos[0] == json{{"type", "hello"}, {"try", 1}, {"running", "a task"}});
  CHECK(world.states == std::vector{connecting, connected});
  CHECK(world.reasons[0] == "connecting to " + listener->address());
  REQUIRE(world.ear->connection->send({{"type", "a"}}));
  Ear other;
  other.listen_to(std::move(world.guests[0]));
  REQUIRE(world.run([&] { return other.messages.size() == 1; }));
}

TEST_CASE("dialer: tries again until somebody listens and says why not yet") {
  DialerWorld world;
  const std::string address = world.listen()->address();
  world.dial({.address = address, .secret = kSecret});
  REQUIRE(world.run_to_state(waiting, 3));
  CHECK(world.reasons[1] == "cannot connect to " + address + ": Connection refused");
  const auto listener = world.listen(kSecret, address);
  REQUIRE(world.run_to_welcome());
  CHECK(world.hellos[0]["try"] == world.tries);
  CHECK(world.tries > 3);
}

TEST_CASE("dialer: what is wrong with an address is said") {
  const auto [address, reason] = GENERATE(table<std::string, std::string>({
      {"nonsense", "the port is missing"},
      {"127.0.0.1:0", "the port is 0"},
      {"no..host:7000", "cannot connect to no..host:7000: "},
  }));
  DialerWorld world;
  world.dial({.address = address, .secret = kSecret});
  REQUIRE(world.run_to_state(waiting));
  CHECK_THAT(world.reasons[1], Contains(reason));
}

TEST_CASE("dialer: a name is resolved") {
  DialerWorld world;
  const auto listener = world.listen(kSecret, "localhost:0");
  const auto port = parse_host_port(listener->address())->port;
  world.dial({.address = fmt::format("localhost:{}", port), .secret = kSecret});
  REQUIRE(world.run_to_welcome());
}

TEST_CASE("dialer: a wrong secret is told as refused and not tried again at once") {
  DialerWorld world;
  const auto listener = world.listen(kOtherSecret);
  world.dial({.address = listener->address(), .secret = kSecret});
  REQUIRE(world.run_to_state(refused));
  CHECK_THAT(world.reasons[1],
             Contains(listener->address() + " does not know the secret of role worker"));
  CHECK(world.states == std::vector{connecting, refused});

  // Meanwhile another one can reach nobody several times.
  DialerWorld meanwhile;
  meanwhile.dial({.address = meanwhile.listen()->address(), .secret = kSecret});
  REQUIRE(run_until(meanwhile.io, [&] {
    world.io.poll();
    return std::ranges::count(meanwhile.states, waiting) >= 10;
  }));
  CHECK(world.states.size() == 2);
}

TEST_CASE("dialer: a refusal that is final is tried again after its pause") {
  DialerWorld world;
  const auto listener = world.listen(kOtherSecret);
  world.dial({.address = listener->address(), .secret = kSecret, .refused_pause = 30ms});
  REQUIRE(world.run_to_state(refused, 3));
}

TEST_CASE("dialer: a refusal that is not final is tried again soon") {
  DialerWorld world;
  world.answer = nullptr;
  const auto listener = world.listen();
  world.dial({.address = listener->address(), .secret = kSecret});
  REQUIRE(world.run_to_state(waiting, 2));
  CHECK(world.reasons[1] == listener->address() + " refuses: not today");
  world.answer = {{"type", "welcome"}};
  REQUIRE(world.run_to_welcome());
}

TEST_CASE("dialer: a welcome sets the intervals and a broken one is none") {
  DialerWorld world;
  world.answer = {{"type", "welcome"}, {"ping", 0.01}, {"silence", 0.04}};
  const auto listener = world.listen();
  world.dial({.address = listener->address(), .secret = kSecret});
  REQUIRE(world.run_to_welcome());
  REQUIRE(world.run([&] { return !world.ear->reasons.empty(); }));
  CHECK(world.ear->reasons[0] == "silent for 0.04 s");
  world.answer["silence"] = GENERATE(json(-1), json(0), json("1"), json(nullptr), json(1e300));
  world.dialer->dial();
  REQUIRE(world.run_to_state(waiting));
  CHECK_THAT(world.reasons.back(), Contains("'silence' of its welcome is not 0.001 to"));
}

TEST_CASE("dialer: somebody who answers with something else is said to do so") {
  const auto [text, reason] = GENERATE(table<std::string, std::string>({
      {*encode_json_frame({{"type", "batch"}}),
       "answers without a challenge: {\"type\":\"batch\"}"},
      {"220 mail ready\r\n", "gave no welcome: frame 1: "},
      {"", "no answer from "},
      {"close", "gave no welcome: the other side has closed"},
  }));
  DialerWorld world;
  tcp::acceptor acceptor(world.io, {boost::asio::ip::address_v4::loopback(), 0});
  const std::string address = fmt::format("127.0.0.1:{}", acceptor.local_endpoint().port());
  world.dial({.address = address, .secret = kSecret, .try_for = text.empty() ? 30ms : 60'000ms});
  std::unique_ptr<RawPeer> peer;
  acceptor.async_accept([&, answer = text](error_code, tcp::socket socket) {
    peer = std::make_unique<RawPeer>(std::move(socket));
    peer->read();
    if (answer == "close") {
      peer->socket.shutdown(tcp::socket::shutdown_send);
    } else {
      peer->write(answer);
    }
  });
  REQUIRE(world.run_to_state(waiting));
  CHECK_THAT(world.reasons[1], Contains(reason) && Contains(address));
}

// Who sits at a port where it should not, and says `words`, each when it has heard something.
struct Impostor {
  Impostor(boost::asio::io_context& io, std::vector<json> words)
      : acceptor(io, {boost::asio::ip::address_v4::loopback(), 0}) {
    acceptor.async_accept([this, words = std::move(words)](error_code, tcp::socket socket) {
      peer = std::make_unique<RawPeer>(std::move(socket));
      peer->read();
      for (const json& word : words) peer->write(word);
    });
  }
  std::string address() const {
    return fmt::format("127.0.0.1:{}", acceptor.local_endpoint().port());
  }

  tcp::acceptor acceptor;
  std::unique_ptr<RawPeer> peer;
};

TEST_CASE("dialer: whoever listens without the secret hears neither it nor what would be said") {
  DialerWorld world;
  const Secrets guess = {{"worker", kOtherSecret}};
  ServerHandshake knows_a_bit(guess, draw_bytes());
  const json challenge = *knows_a_bit.hear(ClientHandshake(kSelf, kOtherSecret, {}).hello());
  Impostor impostor(world.io,
                    {GENERATE_COPY(as<json>{}, challenge, json{{"type", "welcome"}, {"epoch", 1}},
                                   json{{"type", "ping"}})});
  world.dial({.address = impostor.address(), .secret = kSecret, .try_for = 1s});
  REQUIRE(world.run([&] { return world.states.size() >= 2; }));
  REQUIRE(world.run([&] { return impostor.peer && impostor.peer->ended; }));
  const RawPeer& heard = *impostor.peer;
  REQUIRE(!heard.messages.empty());
  CHECK(heard.messages[0]["type"] == "hello");
  CHECK(heard.messages[0].size() == 5);  // type, version, role, name, nonce
  for (const json& message : heard.messages) CHECK(message["type"] != "proof");
  CHECK(heard.heard.find(kSecret.hex()) == std::string::npos);
  CHECK(heard.heard.find("running") == std::string::npos);
  CHECK(world.welcomes.empty());
}

TEST_CASE("dialer: a coordinator of another version is told with both versions") {
  const auto [word, reason] = GENERATE(table<json, std::string>({
      {{{"type", "error"}, {"message", "version 1 is spoken here, not 2"}, {"final", true}},
       "refuses: version 1 is spoken here, not 2"},
      {{{"type", "challenge"}, {"version", 3}}, "speaks version 3, not 2"},
  }));
  DialerWorld world;
  Impostor other(world.io, {word});
  world.dial({.address = other.address(), .secret = kSecret});
  REQUIRE(world.run_to_state(refused));
  CHECK(world.reasons[1] == other.address() + " " + reason);
}

TEST_CASE("dialer: a file for another role is refused") {
  DialerWorld world;
  const std::string file = world.folder.path / "address";
  REQUIRE(write_address_file(file, {"127.0.0.1:9", "client", kSecret}));
  world.dial({.file = file});
  REQUIRE(world.run_to_state(waiting));
  CHECK(world.reasons[0] == file + " is for the role client, not for worker");
}

TEST_CASE("dialer: finds who came back at another port by the file") {
  DialerWorld world;
  const std::string file = world.folder.path / "address";
  world.dial({.file = file});
  REQUIRE(world.run_to_state(waiting));
  CHECK_THAT(world.reasons[0], Contains(file) && Contains("No such file"));
  auto listener = world.listen();
  REQUIRE(write_address_file(file, {listener->address(), "worker", kSecret}));
  REQUIRE(world.run_to_welcome());

  const auto other = world.listen(kOtherSecret);
  world.ear->on_closed = [&] { world.dialer->dial(); };
  listener.reset();
  world.guests.clear();
  REQUIRE(world.run_to_state(waiting, std::ranges::count(world.states, waiting) + 2));
  REQUIRE(write_address_file(file, {other->address(), "worker", kOtherSecret}));
  REQUIRE(world.run_to_welcome(2));
  CHECK(world.reasons.back() == "connected to " + other->address());
}

TEST_CASE("dialer: a new address in the file ends the pause of a refusal") {
  DialerWorld world;
  const std::string file = world.folder.path / "address";
  const auto listener = world.listen();
  REQUIRE(write_address_file(file, {listener->address(), "worker", kOtherSecret}));
  world.dial({.file = file});
  REQUIRE(world.run_to_state(refused));
  REQUIRE(write_address_file(file, {listener->address(), "worker", kSecret}));
  REQUIRE(world.run_to_welcome());
}

TEST_CASE("dialer: a new secret in its file ends the pause of a refusal") {
  DialerWorld world;
  const std::string file = world.folder.path / "secret";
  REQUIRE(write_file_atomically(file, kOtherSecret.hex() + "\n"));
  const auto listener = world.listen();
  world.dial({.address = listener->address(), .secret_file = file});
  REQUIRE(world.run_to_state(DialState::refused));
  SECTION("the secret alone") { REQUIRE(write_file_atomically(file, kSecret.hex())); }
  SECTION("or the file of the role, from which the secret alone counts") {
    REQUIRE(write_address_file(file, {"127.0.0.1:9", "worker", kSecret}));
  }
  REQUIRE(world.run_to_welcome());
}

TEST_CASE("dialer: says nothing after it was stopped and dials again when it is told to") {
  DialerWorld world;
  const auto listener = world.listen();
  world.dial({.address = listener->address(), .secret = kSecret});
  world.dialer->dial();  // it does already
  const int events = GENERATE(range(0, 16));
  for (int i = 0; i < events; ++i) world.io.poll_one();
  world.dialer->stop();
  const auto states = world.states;
  const auto welcomes = world.welcomes.size();
  settle(world.io);
  CHECK(world.states == states);
  CHECK(world.welcomes.size() == welcomes);
  world.dialer->dial();
  REQUIRE(world.run_to_welcome(welcomes + 1));
}

TEST_CASE("dialer: it may be destroyed out of each of its callbacks") {
  DialerWorld world;
  const DialState last = GENERATE(connecting, connected, waiting, refused);
  const auto listener = world.listen(last == refused ? kOtherSecret : kSecret);
  if (last == waiting) world.answer = nullptr;
  world.on_state = [&](DialState state) {
    if (state == last) world.dialer.reset();
  };
  world.dial({.address = listener->address(), .secret = kSecret});
  REQUIRE(world.run([&] { return !world.dialer; }));
  settle(world.io);
  CHECK(world.states.back() == last);
  CHECK(world.welcomes.empty());
}

TEST_CASE("dialer: it may be destroyed after any number of events") {
  const int events = GENERATE(range(0, 24));
  const bool name = GENERATE(true, false);
  DialerWorld world;
  const auto listener = world.listen();
  const auto port = parse_host_port(listener->address())->port;
  world.dial(
      {.address = fmt::format("{}:{}", name ? "localhost" : "127.0.0.1", port), .secret = kSecret});
  for (int i = 0; i < events; ++i) {
    world.io.restart();
    if (i < 4) {
      world.io.poll_one();
    } else {
      world.io.run_one_for(1ms);
    }
  }
  world.dialer.reset();
  const auto states = world.states;
  settle(world.io);
  CHECK(world.states == states);
}

}  // namespace attune::dialer_test
