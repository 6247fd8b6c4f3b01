// What is read of a channel before anybody handles it, and what comes of it then.
#include "daemon/read_ahead.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/transcript_text.h"

namespace attune::read_ahead_test {

// Gives what a test has put in, one event for each receive().
class ScriptedChannel : public Channel {
 public:
  void open() override {}
  void attach(ChannelEvents& events) override { events_ = &events; }
  void receive() override { ++asked; }
  Result<std::optional<Frame>> next() override {
    if (frames.empty()) return std::nullopt;
    Frame frame = std::move(frames.front());
    frames.pop_front();
    if (frame.code == "??") return fail("no frame");
    return frame;
  }
  void stop_receiving() override {}
  Result<void> send(const Frame&) override { return {}; }
  std::size_t backlog() const override { return 0; }
  bool close(Parting) override { return true; }

  void input(std::deque<Frame> more) {
    frames = std::move(more);
    events_->on_input();
  }
  void end(ExitCode code) { events_->on_end(code); }

  std::deque<Frame> frames;
  int asked = 0;  // receive()

 private:
  ChannelEvents* events_ = nullptr;
};

struct World : ChannelEvents {
  World() {
    ahead.begin([this](ReadAhead::End end) {
      ended.push_back(end.terminate ? "TE" : std::to_string(end.code));
    });
  }
  void hand_over() {
    ahead.attach(*this);
    ahead.receive();
    run();
  }
  void run() {
    io.restart();
    io.poll();
  }
  // As the server: takes all that is there.
  void take() {
    while (true) {
      auto frame = ahead.next();
      if (!frame) {
        heard += " broken";
        return;
      }
      if (!*frame) return;
      heard += " " + (*frame)->code;
    }
  }
  void on_input() override {
    heard += " input:";
    take();
  }
  void on_end(ExitCode code) override { heard += " end " + std::to_string(code); }
  void on_output() override {}

  boost::asio::io_context io;
  ScriptedChannel channel;
  ReadAhead ahead{io, channel, 1000};
  std::vector<std::string> ended;
  std::string heard;
};

TEST_CASE("read ahead: frames come first, in their order, and the rest as ever") {
  World world;
  world.channel.input({{"IN", ""}, {"GE", "1"}});
  CHECK(world.channel.asked == 2);
  world.hand_over();
  CHECK(world.heard == " input: IN GE");
  world.ahead.receive();
  CHECK(world.channel.asked == 3);
  world.channel.input({{"GE", "2"}});
  CHECK(world.heard == " input: IN GE input: GE");
  CHECK(world.ended.empty());
}

TEST_CASE("read ahead: Terminate and the end of input are noticed, once, and handled later") {
  World world;
  world.channel.input({{"IN", ""}, {"TE", ""}});
  CHECK(world.ended == std::vector<std::string>{"TE"});
  world.channel.end(kExitOk);
  CHECK(world.ended.size() == 1);
  world.hand_over();
  CHECK(world.heard == " input: IN TE");
  world.ahead.receive();
  world.run();
  CHECK(world.heard == " input: IN TE end 0");
}

TEST_CASE("read ahead: input that cannot be read is an end, and an error in its place") {
  World world;
  world.channel.input({{"IN", ""}, {"??", ""}});
  CHECK(world.ended == std::vector<std::string>{"3"});
  world.hand_over();
  CHECK(world.heard == " input: IN broken");
}

TEST_CASE("read ahead: no more than the limit is read") {
  World world;
  world.channel.input({{"IN", std::string(2000, ' ')}, {"TE", ""}});
  CHECK(world.channel.asked == 1);
  CHECK(world.ended.empty());
  world.hand_over();
  CHECK(world.heard == " input: IN TE");
}

TEST_CASE("read ahead: frames that were taken before the event are no end of input") {
  World world;
  world.channel.input({{"IN", ""}});
  world.ahead.attach(world);
  world.ahead.receive();
  world.take();
  const int asked = world.channel.asked;
  world.run();
  CHECK(world.heard == " IN");
  CHECK(world.channel.asked == asked + 1);
}

}  // namespace attune::read_ahead_test
