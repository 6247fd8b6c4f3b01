#include "daemon/pipe_channel.h"

#include <unistd.h>

#include <catch2/catch.hpp>

namespace attune {
namespace {

struct Events : ChannelEvents {
  void on_input() override { ++inputs; }
  void on_end(ExitCode code) override { end = code; }
  void on_output() override {}

  int inputs = 0;
  std::optional<ExitCode> end;
};

TEST_CASE("asking twice for input reads once") {
  int in[2], out[2];
  REQUIRE(::pipe(in) == 0);
  REQUIRE(::pipe(out) == 0);
  boost::asio::io_context io(1);
  PipeChannel channel(io, in[0], out[1], Framing{}, Log());
  Events events;
  channel.start(events);
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

}  // namespace
}  // namespace attune
