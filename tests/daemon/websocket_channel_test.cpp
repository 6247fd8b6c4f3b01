// The WebSocket channel alone, where the real waiting times would be too long for a test.
#include "daemon/websocket_channel.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/support/manager_socket.h"

namespace attune::websocket_channel_test {

using std::chrono::milliseconds;

struct Events : ChannelEvents {
  void on_input() override {
    while (*channel->next()) ++frames;
    channel->receive();
  }
  void on_end(ExitCode code) override { end = code; }
  void on_output() override { closed |= closing && channel->close(parting); }

  Channel* channel = nullptr;
  int frames = 0;
  bool closing = false, closed = false;
  Parting parting = Parting::agreed;
  std::optional<ExitCode> end;
};

// A manager that is there is waited for however busy the machine is.
WebSocketOptions quick() {
  WebSocketOptions options;
  options.connect_for = std::chrono::hours(24);
  options.connect_pause = milliseconds(1);
  options.pauses = {milliseconds(0), milliseconds(1)};
  return options;
}
// One that is not there is given up soon.
WebSocketOptions impatient() {
  WebSocketOptions options = quick();
  options.connect_for = milliseconds(50);
  return options;
}

struct Client {
  explicit Client(const ManagerSocket& manager, const WebSocketOptions& options = quick(),
                  UniqueFd process = {}) {
    channel = make_websocket_channel(io, *parse_websocket_url(manager.url()), options,
                                     std::move(process), Log());
    events.channel = channel.get();
    channel->open();
    channel->attach(events);
    channel->receive();
  }

  boost::asio::io_context io{1};
  std::unique_ptr<Channel> channel;
  Events events;
};

TEST_CASE("a manager that does not listen is given up in time") {
  const ManagerSocket manager(Dialect::v2);
  Client client(manager, impatient());
  client.io.run();
  CHECK(client.events.end == kExitConfiguration);
  CHECK(client.channel->send({"ID", ""}));
  CHECK(client.channel->backlog() == 0);
  CHECK(client.channel->close(Parting::agreed));
}

TEST_CASE("a manager that accepts and says nothing is given up in time") {
  ManagerSocket manager(Dialect::v2);
  manager.listen();  // the system accepts, nobody answers the handshake
  Client client(manager, impatient());
  client.io.run();
  CHECK(client.events.end == kExitConfiguration);
}

TEST_CASE("a manager of NNI 3.0 that does not come back is the end of input") {
  std::optional<ManagerSocket> manager(std::in_place, Dialect::v3);
  manager->listen();
  Client client(*manager);
  std::thread io([&client] { client.io.run(); });
  manager->accept();
  manager->send("IN", "{}");
  manager->ping();  // it has seen the message
  manager.reset();
  io.join();
  CHECK(client.events.frames == 1);
  CHECK(client.events.end == kExitOk);
}

TEST_CASE("a close that is not answered is over in time") {
  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  ManagerSocket manager(dialect);
  manager.listen();
  Client client(manager);
  std::thread io([&client] {
    while (client.events.frames == 0) client.io.run_one();
  });
  manager.accept();
  manager.send("IN", "{}");
  io.join();
  client.events.closing = true;
  client.channel->stop_receiving();
  CHECK_FALSE(client.channel->close(Parting::agreed));  // and the manager does nothing from here on
  client.io.run();
  CHECK(client.events.closed);
}

// A client whose event loop runs on a thread of its own.
struct RunningClient : Client {
  using Client::Client;
  ~RunningClient() { join(); }

  void run() {
    thread = std::thread([this] { io.run(); });
  }
  void join() {
    if (thread.joinable()) thread.join();
  }
  // As the daemon does: ER, and then the end, from inside the event loop.
  void fail() {
    boost::asio::post(io, [this] {
      channel->stop_receiving();
      CHECK(channel->send({"ER", "no such tuner"}));
      events.parting = Parting::failed;
      events.closing = true;
      events.closed |= channel->close(Parting::failed);
    });
  }

  std::thread thread;
};

// Nothing is tried a second time while a test runs.
WebSocketOptions patient() {
  WebSocketOptions options;
  options.connect_for = options.connect_pause = std::chrono::hours(24);
  options.pauses = {std::chrono::hours(24)};
  return options;
}

TEST_CASE("after ER it stays connected until the manager has ended") {
  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  ManagerSocket manager(dialect);
  manager.listen();
  RunningClient client(manager, patient());
  client.fail();  // before there is a connection, as an unusable configuration is
  client.run();
  manager.accept();
  manager.send("IN", "{}");
  CHECK(manager.receive() == Frame{"ER", "no such tuner"});
  for (int i = 0; i < 3; ++i) {
    CHECK(manager.ping() == 0);  // which a closed connection does not answer
    manager.send("GE", "1");
  }
  SECTION("Terminate") {
    manager.send("TE");
    const auto rest = manager.receive_all();
    CHECK(manager.close_code() == (dialect == Dialect::v3 ? 4000 : 1000));
    CHECK(rest.size() == (dialect == Dialect::v3 ? 1 : 0));
  }
  SECTION("it closes") { manager.close(1001); }
  SECTION("it is killed") { manager.drop(); }
  client.join();
  CHECK(client.events.closed);
}

TEST_CASE("after a message over the limit and ER the manager can end it") {
  ManagerSocket manager(Dialect::v2);
  manager.listen();
  auto options = patient();
  options.max_payload = 1000;
  RunningClient client(manager, options);
  client.fail();
  client.run();
  manager.accept();
  manager.send("IN", "{}");
  CHECK(manager.receive());
  manager.send("SS", std::string(1'000'000, ' '));
  CHECK(manager.ping() == 0);
  manager.send("TE");
  client.join();
  CHECK(client.events.closed);
}

TEST_CASE("a manager that breaks the WebSocket protocol and says no more ends it with 3") {
  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  const bool spoken = GENERATE(false, true);
  CAPTURE(spoken);
  ManagerSocket manager(dialect);
  manager.listen();
  RunningClient client(manager, patient());
  client.run();
  manager.accept();
  if (spoken) manager.send("IN", "{}");
  manager.send_bytes("\x81\x02\xff\xfe");  // text that is no UTF-8; and from here on nothing
  client.join();
  CHECK(client.events.end == kExitProtocol);
}

// A process that only waits, and is killed.
struct Process {
  Process() : pid(::fork()) {
    if (pid == 0) {
      while (true) ::pause();
    }
    REQUIRE(pid > 0);
  }
  ~Process() { kill(); }
  UniqueFd open() const { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }
  void kill() {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    pid = 0;
  }

  pid_t pid;
};

TEST_CASE("no connection is made again once the process of the manager has ended") {
  Process process;
  ManagerSocket manager(Dialect::v3);
  manager.listen();
  auto options = patient();
  SECTION("it ends first") { options.pauses = {milliseconds(0)}; }
  SECTION("the connection drops first") {}
  const bool first = options.pauses[0] == milliseconds(0);
  RunningClient client(manager, options, process.open());
  client.run();
  manager.accept();
  manager.send("IN", "{}");
  manager.ping();
  if (first) process.kill();
  manager.drop();
  if (!first) process.kill();
  client.join();
  CHECK(client.events.end == kExitOk);
  CHECK_FALSE(manager.has_client());
}

TEST_CASE("the end of the process alone is none while the connection lives") {
  Process process;
  ManagerSocket manager(Dialect::v3);
  manager.listen();
  RunningClient client(manager, patient(), process.open());
  client.run();
  manager.accept();
  manager.send("IN", "{}");
  manager.ping();  // it is connected, and knows it
  process.kill();
  manager.ping();
  manager.send("_bye_");
  manager.close(4000);
  client.join();
  CHECK(client.events.end == kExitOk);
}

TEST_CASE("a manager that says Initialize to a connection made again is another one") {
  ManagerSocket manager(Dialect::v3);
  manager.listen();
  RunningClient client(manager, quick());
  client.run();
  manager.accept();
  manager.send("IN", "{}");
  manager.ping();
  manager.drop();
  manager.accept();
  manager.send("IN", "{}");
  CHECK_FALSE(manager.receive());
  client.join();
  CHECK(client.events.end == kExitOk);
  CHECK(client.events.frames == 1);
}

}  // namespace attune::websocket_channel_test
