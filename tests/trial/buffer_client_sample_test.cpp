// Batches that come late, in parts and again, and what is said about them.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "tests/trial/buffer_client_world.h"

namespace attune::buffer_client_sample_test {

using namespace attune::test;
using Catch::Contains;
using Ids = std::vector<std::uint64_t>;
using Numbers = std::vector<double>;
using World = ClientWorld;

TEST_CASE("buffer client: samples until the buffer is closed") {
  World world;
  FakeCoordinator there(world.file);
  json asked;
  auto script = World::play([&] {
    FakePeer peer = there.greet();
    asked = peer.hear();
    peer.say({{"type", "something"}, {"new", true}});
    peer.say(batch(asked, {3, 3, 8}));
    peer.hear();
    peer.say({{"type", "closed"}, {"buffer", "b"}});
  });
  BufferClient client(world.options());
  const auto sampled = client.sample("b", 3);
  REQUIRE(sampled);
  REQUIRE(*sampled);
  CHECK((**sampled)[2].id == 8);
  CHECK((**sampled)[2].meta == "m8");
  CHECK((**sampled)[2].weight == 0.5);
  CHECK(asked == *parse_json(R"({"type": "sample", "buffer": "b", "seq": 1, "size": 3,
      "from": 0})"));
  CHECK(client.sample("b", 3).value() == std::nullopt);
  script.get();
  CHECK(client.closed("b"));
  CHECK(client.push("b", items(1)) == false);
  CHECK(client.sample("b", 1).value() == std::nullopt);
  CHECK(client.flush("b") == false);
  CHECK(client.update("b", Ids{1}, Numbers{1}));
}

TEST_CASE("buffer client: a batch is asked for again and priorities are said again") {
  World world;
  FakeCoordinator there(world.file);
  std::vector<json> heard;
  std::promise<void> settled;
  auto script = World::play([&] {
    for (int life = 0; life < 2; ++life) {  // both are lost
      FakePeer peer = there.greet();
      for (int i = 0; i < 3; ++i) heard.push_back(peer.hear());
    }
    {
      FakePeer peer = there.greet();
      for (int i = 0; i < 3; ++i) heard.push_back(peer.hear());
      peer.say(batch(heard.back(), {1}));
      settled.get_future().get();
    }
    FakePeer peer = there.greet();
    heard.push_back(peer.hear());
    peer.say(batch(heard.back(), {2}));
  });
  BufferClient client(world.options());
  CHECK(client.update("b", Ids{4, 5}, Numbers{0.5, 2}));
  CHECK(client.advance("b", 9));
  CHECK(client.sample("b", 1).value()->at(0).id == 1);
  settled.set_value();
  CHECK(client.sample("b", 1).value()->at(0).id == 2);  // it was heard, and is not said again
  script.get();
  REQUIRE(heard.size() == 10);
  for (std::size_t life = 0; life < 3; ++life) {
    CHECK(heard[3 * life] == *parse_json(R"({"type": "update", "buffer": "b", "ids": [4, 5],
        "priorities": [0.5, 2.0]})"));
    CHECK(heard[3 * life + 1] == *parse_json(R"({"type": "advance", "buffer": "b",
        "iteration": 9})"));
    CHECK(heard[3 * life + 2] == *parse_json(R"({"type": "sample", "buffer": "b", "seq": 1,
        "size": 1, "from": 0})"));
  }
  CHECK(heard[9]["seq"] == 2);
}

TEST_CASE("buffer client: a batch comes in parts and from its beginning after a break") {
  World world;
  FakeCoordinator there(world.file);
  std::vector<std::string> asked;
  const auto hear = [&](FakePeer& peer) {
    const json message = peer.hear();
    asked.push_back(fmt::format("{}: {} from {}", dump_json(message["seq"]),
                                dump_json(message["size"]), dump_json(message["from"])));
    return message;
  };
  auto script = World::play([&] {
    {
      FakePeer peer = there.greet();
      peer.say(batch(hear(peer), {7, 8}));
      hear(peer);
    }
    FakePeer peer = there.greet();
    peer.say(batch(hear(peer), {1}));
    peer.say(batch(hear(peer), {2, 3}));
    peer.say(batch(hear(peer), {4}));
  });
  BufferClient client(world.options());
  const auto sampled = client.sample("b", 3);
  REQUIRE(sampled);
  REQUIRE(*sampled);
  Ids ids;
  for (const SampledItem& item : **sampled) ids.push_back(item.id);
  CHECK(ids == Ids{1, 2, 3});
  CHECK(client.sample("b", 1).value()->at(0).id == 4);
  script.get();
  CHECK(asked == std::vector<std::string>{"1: 3 from 0", "1: 3 from 2", "1: 3 from 0",
                                          "1: 3 from 1", "2: 1 from 0"});
}

TEST_CASE("buffer client: a call that wants another number first hears what was asked for") {
  World world;
  FakeCoordinator there(world.file);
  std::atomic<bool> stop = false;
  json first, second;
  std::promise<void> stopped;
  auto script = World::play([&] {
    FakePeer peer = there.greet();
    first = peer.hear();
    stop = true;
    stopped.get_future().get();
    peer.say(batch(first, {1, 2}));
    second = peer.hear();
    peer.say(batch(second, {3}));
  });
  BufferClientOptions options = world.options();
  options.stop = [&] { return stop.load(); };
  BufferClient client(options);
  CHECK_THAT(client.sample("b", 2).error().message, Contains("asked to stop"));
  stop = false;
  stopped.set_value();
  CHECK(client.sample("b", 1).value()->at(0).id == 3);
  script.get();
  CHECK(second["seq"] == 2);
  CHECK(second["size"] == 1);
}

TEST_CASE("buffer client: many priorities go in several messages") {
  World world;
  FakeCoordinator there(world.file);
  std::vector<std::size_t> sizes;
  auto script = World::play([&] {
    FakePeer peer = there.greet();
    while (sizes.size() < 3) sizes.push_back(peer.hear()["ids"].size());
  });
  BufferClient client(world.options());
  CHECK(client.update("b", Ids(250'000, 1), Numbers(250'000, 0.5)));
  script.get();
  CHECK(sizes == std::vector<std::size_t>{100'000, 100'000, 50'000});
}

}  // namespace attune::buffer_client_sample_test
