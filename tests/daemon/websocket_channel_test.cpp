// The WebSocket channel alone, where the real waiting times would be too long for a test.
#include "daemon/websocket_channel.h"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/support/manager_socket.h"

namespace attune {
namespace {

using std::chrono::milliseconds;

struct Events : ChannelEvents {
  void on_input() override {
    while (*channel->next()) ++frames;
    channel->receive();
  }
  void on_end(ExitCode code) override { end = code; }
  void on_output() override { closed |= closing && channel->close(); }

  Channel* channel = nullptr;
  int frames = 0;
  bool closing = false, closed = false;
  std::optional<ExitCode> end;
};

struct Client {
  explicit Client(const ManagerSocket& manager) {
    WebSocketOptions options;
    options.connect_for = milliseconds(200);
    options.connect_pause = milliseconds(1);
    options.pauses = {milliseconds(0), milliseconds(1)};
    channel = make_websocket_channel(io, *parse_websocket_url(manager.url()), options, Log());
    events.channel = channel.get();
    channel->start(events);
    channel->receive();
  }

  boost::asio::io_context io{1};
  std::unique_ptr<Channel> channel;
  Events events;
};

TEST_CASE("a manager that does not listen is given up in time") {
  const ManagerSocket manager(Dialect::v2);
  Client client(manager);
  client.io.run();
  CHECK(client.events.end == kExitConfiguration);
  CHECK(client.channel->send({"ID", ""}));
  CHECK(client.channel->backlog() == 0);
  CHECK(client.channel->close());
}

TEST_CASE("a manager that accepts and says nothing is given up in time") {
  ManagerSocket manager(Dialect::v2);
  manager.listen();  // the system accepts, nobody answers the handshake
  Client client(manager);
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
  CHECK_FALSE(client.channel->close());  // and the manager does nothing from here on
  client.io.run();
  CHECK(client.events.closed);
}

}  // namespace
}  // namespace attune
