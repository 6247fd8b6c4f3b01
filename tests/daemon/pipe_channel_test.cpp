#include "daemon/pipe_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <optional>

#include "os/unique_fd.h"

namespace attune::pipe_channel_test {

using std::chrono::milliseconds;

struct Events : ChannelEvents {
  void on_input() override { ++inputs; }
  void on_end(ExitCode code) override { end = code; }
  void on_output() override { ++outputs; }

  int inputs = 0, outputs = 0;
  std::optional<ExitCode> end;
};

TEST_CASE("asking twice for input reads once") {
  int in[2], out[2];
  REQUIRE(::pipe(in) == 0);
  REQUIRE(::pipe(out) == 0);
  boost::asio::io_context io(1);
  PipeChannel channel(io, in[0], out[1], Framing{}, milliseconds(0), Log());
  Events events;
  channel.attach(events);
  channel.receive();
  channel.receive();  // as when both queues have room again at the same moment
  const std::string bytes = "PI00000000000000";
  REQUIRE(::write(in[1], bytes.data(), bytes.size()) == std::ssize(bytes));
  ::close(in[1]);
  // The second read would find the end of input here, unasked.
  io.run();
  CHECK(events.inputs == 1);
  CHECK_FALSE(events.end);
  CHECK(channel.next() == Frame{"PI", ""});
  channel.receive();
  io.restart();
  io.run();
  CHECK(events.inputs == 1);
  CHECK(events.end == kExitOk);
  ::close(out[0]);
}

// NNI 2.7's: two stream sockets, of which the manager has an end each.
struct Manager {
  explicit Manager(milliseconds notice_for) {
    int in[2], out[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, in) == 0);
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, out) == 0);
    to.reset(in[1]);
    from.reset(out[1]);
    channel.emplace(io, in[0], out[0], Framing{}, notice_for, Log());
    channel->attach(events);
    channel->receive();
    io.poll();
    channel->stop_receiving();
  }

  // Runs everything that can happen by itself.
  void settle() {
    io.restart();
    io.poll();
  }
  void run_until_output() {
    io.restart();
    while (events.outputs == 0) REQUIRE(io.run_one() > 0);
  }
  void say(const std::string& bytes) {
    REQUIRE(::write(to.get(), bytes.data(), bytes.size()) == std::ssize(bytes));
  }
  // What the manager gets to know when the daemon has exited: 0, or the error.
  int error_after_exit() {
    channel.reset();
    char byte = 0;
    return ::read(to.get(), &byte, 1) < 0 ? errno : 0;
  }

  boost::asio::io_context io{1};
  UniqueFd to, from;
  Events events;
  std::optional<PipeChannel> channel;
};

constexpr milliseconds kForEver = std::chrono::hours(24);

TEST_CASE("after a failure the next command of NNI 2.7 is left unread, which is an error to it") {
  Manager manager(kForEver);
  CHECK_FALSE(manager.channel->close(Parting::failed));
  manager.settle();
  CHECK_FALSE(manager.channel->close(Parting::failed));
  manager.say("PI00000000000000");
  manager.run_until_output();
  CHECK(manager.channel->close(Parting::failed));
  CHECK(manager.error_after_exit() == ECONNRESET);
}

TEST_CASE("after a failure a command that has come already is left unread") {
  Manager manager(kForEver);
  manager.say("IN00000000000002{}");
  CHECK_FALSE(manager.channel->close(Parting::failed));
  manager.run_until_output();
  CHECK(manager.channel->close(Parting::failed));
  CHECK(manager.error_after_exit() == ECONNRESET);
}

TEST_CASE("after a failure the end of input is waited for no longer") {
  Manager manager(kForEver);
  CHECK_FALSE(manager.channel->close(Parting::failed));
  manager.to.reset();
  manager.run_until_output();
  CHECK(manager.channel->close(Parting::failed));
}

TEST_CASE("after a failure a manager that says nothing is not waited for without limit") {
  Manager manager(milliseconds(1));
  CHECK_FALSE(manager.channel->close(Parting::failed));
  manager.run_until_output();
  CHECK(manager.channel->close(Parting::failed));
}

TEST_CASE("nothing is waited for where the end was agreed, or the manager hears of failures") {
  Manager agreed(kForEver);
  CHECK(agreed.channel->close(Parting::agreed));
  CHECK(agreed.error_after_exit() == 0);
  Manager hears(milliseconds(0));
  CHECK(hears.channel->close(Parting::failed));
}

}  // namespace attune::pipe_channel_test
