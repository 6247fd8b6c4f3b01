#include "trial/buffer_client.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <future>
#include <set>

#include "tests/trial/buffer_client_world.h"
#include "tests/trial/trial_folder.h"

namespace attune::buffer_client_test {

using namespace attune::test;
using Catch::Contains;
using Ids = std::vector<std::uint64_t>;
using Numbers = std::vector<double>;
using World = ClientWorld;

TEST_CASE("buffer client: says who it is and pushes with numbers") {
  World world;
  FakeCoordinator there(world.file);
  json first, second;
  auto script = World::play([&] {
    FakePeer peer = there.greet();
    first = peer.hear();
    peer.pushed(2);
    second = peer.hear();
    peer.pushed(3);
  });
  BufferClient client(world.options());
  CHECK(client.push("b", {{.meta = "x", .priority = 0.5, .collect_iter = 7}, {.meta = "y"}}) ==
        true);
  CHECK(client.push("b", {{.meta = "z"}}) == true);
  script.get();
  CHECK(there.self == Identity{"data", "run-collect-1"});
  CHECK(there.hello == *parse_json(R"({"type": "hello", "attempt": 2, "key": "k"})"));
  CHECK(first == *parse_json(R"({"type": "push", "buffer": "b", "seq": 1, "items": [
      {"meta": "x", "priority": 0.5, "collect_iter": 7}, {"meta": "y"}]})"));
  CHECK(second["seq"] == 3);
}

TEST_CASE("buffer client: pushes again what was not acknowledged at another port") {
  World world;
  auto there = std::make_unique<FakeCoordinator>(world.file);
  json lost, again, next;
  auto script = World::play([&] {
    {
      FakePeer peer = there->greet();
      peer.hear();
      peer.pushed(1);
      lost = peer.hear();
      there = std::make_unique<FakeCoordinator>(world.file);
    }
    FakePeer peer = there->greet();
    again = peer.hear();
    peer.pushed(4);
    next = peer.hear();
    peer.pushed(5);
  });
  BufferClient client(world.options());
  CHECK(client.push("b", items(1)) == true);
  CHECK(client.push("b", items(3)) == true);
  CHECK(client.push("b", items(1)) == true);
  script.get();
  CHECK(lost["seq"] == 2);
  CHECK(again == lost);
  CHECK(next["seq"] == 5);
}

TEST_CASE("buffer client: so many items may wait for their acknowledgement") {
  World world;
  FakeCoordinator there(world.file);
  std::promise<void> third;
  json one, rest;
  auto script = World::play([&] {
    FakePeer peer = there.greet();
    one = peer.hear();
    third.get_future().get();
    peer.pushed(1);
    rest = peer.hear();
    peer.pushed(3);
  });
  BufferClient client(world.options(2));
  CHECK(client.push("b", items(1)) == true);
  CHECK(client.push("b", items(1)) == true);
  third.set_value();
  CHECK(client.push("b", items(1)) == true);
  CHECK(client.flush("b") == true);
  script.get();
  CHECK(one["items"].size() == 1);
  CHECK(rest["seq"] == 2);
  CHECK(rest["items"].size() == 2);
}

TEST_CASE("buffer client: many items go in several messages") {
  World world;
  FakeCoordinator there(world.file);
  std::vector<std::size_t> sizes;
  auto script = World::play([&] {
    FakePeer peer = there.greet();
    std::int64_t taken = 0;
    while (taken < 2500) {
      const json message = peer.hear();
      sizes.push_back(message["items"].size());
      must(message["seq"] == taken + 1, "a wrong number");
      peer.pushed(taken += static_cast<std::int64_t>(sizes.back()));
    }
  });
  BufferClient client(world.options());
  CHECK(client.push("b", items(2500)) == true);
  script.get();
  CHECK(sizes == std::vector<std::size_t>{1000, 1000, 500});
}

TEST_CASE("buffer client: answers pings and sends its own") {
  World world;
  FakeCoordinator there(world.file);
  std::set<std::string> said;
  auto script = World::play([&] {
    FakePeer peer = there.greet(0.02, 3600);  // no stall of this machine lasts for so long
    const json asked = peer.hear();
    peer.say({{"type", "ping"}});
    while (said.size() < 2) said.insert(peer.hear()["type"].get<std::string>());
    peer.say(batch(asked, {1}));
  });
  BufferClient client(world.options());
  CHECK(client.sample("b", 1).value()->size() == 1);
  script.get();
  CHECK(said == std::set<std::string>{"ping", "pong"});
}

// It may leave at any time after the welcome, before it has asked for anything, too.
TEST_CASE("buffer client: leaves who is silent and asks the next one") {
  World world;
  FakeCoordinator there(world.file);
  auto script = World::play([&] {
    {
      FakePeer silent = there.greet(0.02, 0.05);
      for (bool closed = false; !closed;) {
        try {
          silent.hear();
        } catch (const std::runtime_error&) {
          closed = true;
        }
      }
    }
    FakePeer peer = there.greet();
    peer.say(batch(peer.hear(), {1}));
  });
  BufferClient client(world.options());
  CHECK(client.sample("b", 1).value()->size() == 1);
  script.get();
}

TEST_CASE("buffer client: an attempt that does not run is told so from then on") {
  World world;
  FakeCoordinator there(world.file);
  const bool at_hello = GENERATE(true, false);
  const json fence = {{"type", "error"},
                      {"message", "attempt 2 of task x does not run"},
                      {"final", true},
                      {"code", "fenced"}};
  auto script = World::play([&] {
    FakePeer peer = at_hello ? there.meet() : there.greet();
    peer.hear();
    peer.say(fence);
  });
  BufferClient client(world.options());
  const std::string why = "fenced off this process: attempt 2 of task x does not run";
  CHECK_THAT(client.push("b", items(1)).error().message, Contains(why));
  script.get();
  CHECK(client.fenced());
  CHECK_THAT(client.sample("b", 1).error().message, Contains(why));
  CHECK_THAT(client.flush("b").error().message, Contains(why));
  CHECK_THAT(client.advance("b", 1).error().message, Contains(why));
}

TEST_CASE("buffer client: what the coordinator does not take is an error that stays") {
  World world;
  FakeCoordinator there(world.file);
  const auto [said, why] = GENERATE(table<std::string, std::string>({
      {R"({"type": "error", "message": "buffer: none of the name b"})", "none of the name b"},
      {R"({"type": "pushed", "buffer": "b", "seq": 2})", "were not pushed"},
      {R"({"type": "pushed", "buffer": "c", "seq": 1})", "nobody has asked"},
      {R"({"type": "pushed", "buffer": "b"})", "seq"},
      {R"({"type": "batch", "buffer": "b", "items": [{"id": 1}]})", "meta"},
      {R"({"type": "batch", "buffer": "b", "seq": 1, "from": 0, "items": []})", "nobody has asked"},
      {R"({"type": 7})", "type"},
  }));
  auto script = World::play([&, text = said] {
    FakePeer peer = there.greet();
    peer.hear();
    peer.say(*parse_json(text));
  });
  BufferClient client(world.options());
  CHECK_THAT(client.push("b", items(1)).error().message, Contains(why));
  script.get();
  CHECK_THAT(client.sample("b", 1).error().message, Contains(why));
  CHECK_FALSE(client.fenced());
}

TEST_CASE("buffer client: another secret may be in the file soon") {
  World world;
  auto there = std::make_unique<FakeCoordinator>(world.file, Secret(Bytes32{2}));
  // As from whoever has its port now, and knows another secret.
  const Secrets others = {{"data", Secret(Bytes32{3})}};
  const auto answer_wrongly = [&others](FakePeer peer) {
    ServerHandshake handshake(others, draw_bytes());
    peer.say(*handshake.hear(peer.hear()));
    try {
      peer.hear();
    } catch (const std::runtime_error& end) {
      return std::string(end.what());
    }
    return std::string("it goes on");
  };
  SECTION("and is") {
    auto script = World::play([&] {
      must(answer_wrongly(there->accept()) == "it has closed", "it says more");
      there = std::make_unique<FakeCoordinator>(world.file, Secret(Bytes32{4}));
      FakePeer peer = there->greet();
      peer.hear();
      peer.pushed(1);
    });
    BufferClient client(world.options());
    CHECK(client.push("b", items(1)) == true);
    script.get();
  }
  SECTION("and is not") {
    auto script = World::play(
        [&] { must(answer_wrongly(there->accept()) == "it has closed", "it says more"); });
    BufferClientOptions options = world.options();
    options.refused = 0;
    BufferClient client(options);
    CHECK_THAT(client.push("b", items(1)).error().message,
               Contains("does not know the secret of role data"));
    script.get();
  }
  SECTION("and is for another role") {
    REQUIRE(write_address_file(world.file, {"127.0.0.1:9", "worker", Secret(Bytes32{2})}));
    BufferClientOptions options = world.options();
    options.patience = 0;
    BufferClient client(options);
    CHECK_THAT(client.push("b", items(1)).error().message,
               Contains("is for the role worker, not for data"));
  }
}

TEST_CASE("buffer client: a coordinator of the old wire is told with both versions") {
  World world;
  FakeCoordinator there(world.file);
  auto script = World::play([&] {
    FakePeer peer = there.accept();
    must(peer.hear()["version"] == 2, "its version");
    peer.say({{"type", "error"}, {"message", "version 1 is spoken here, not 2"}, {"final", true}});
  });
  BufferClientOptions options = world.options();
  options.refused = 0;
  BufferClient client(options);
  CHECK_THAT(client.push("b", items(1)).error().message,
             Contains("it refuses: version 1 is spoken here, not 2"));
  script.get();
}

TEST_CASE("buffer client: is patient for so long and can be stopped") {
  World world;
  BufferClientOptions options = world.options();
  SECTION("nobody has written the file") {
    options.patience = 0;
    BufferClient client(options);
    CHECK_THAT(client.push("b", items(1)).error().message,
               Contains("no coordinator for 0 s") && Contains(world.file));
  }
  SECTION("nobody listens") {
    {
      const FakeCoordinator gone(world.file);
    }
    options.patience = 0;
    BufferClient client(options);
    CHECK_THAT(client.push("b", items(1)).error().message, Contains("cannot connect to 127.0.0.1"));
  }
  SECTION("it is asked to stop") {
    int asked = 0;
    options.stop = [&] { return ++asked > 3; };
    BufferClient client(options);
    CHECK_THAT(client.sample("b", 1).error().message, Contains("asked to stop"));
  }
}

TEST_CASE("buffer client: what nobody can take is refused at once") {
  World world;
  BufferClient client(world.options());
  const auto push = [&](DataItem item) {
    return client.push("b", {std::move(item)}).error().message;
  };
  CHECK_THAT(push({.meta = std::string(70'000, 'x')}), Contains("64 KiB"));
  CHECK_THAT(push({.meta = "\xff"}), Contains("UTF-8"));
  CHECK_THAT(push({.meta = "", .priority = -1}), Contains("priority -1"));
  CHECK_THAT(push({.meta = "", .priority = NAN}), Contains("priority nan"));
  CHECK_THAT(push({.meta = "", .collect_iter = -1}), Contains("collect_iter -1"));
  CHECK_THAT(client.sample("b", 0).error().message, Contains("1 item or more"));
  CHECK_THAT(client.advance("b", -1).error().message, Contains("iteration -1"));
  CHECK_THAT(client.update("b", Ids{1, 2}, Numbers{1}).error().message, Contains("1 priorities"));
  CHECK_THAT(client.update("b", Ids{1}, Numbers{INFINITY}).error().message,
             Contains("priority inf"));
}

TEST_CASE("buffer client: is made of a trial and its parameters") {
  World world;
  FakeCoordinator there(world.file);
  const Folder folder;
  Environment environment;
  environment.set("NNI_PLATFORM", "local");
  environment.set("NNI_SYS_DIR", folder.path);
  environment.set("NNI_TRIAL_JOB_ID", "run-learn-1");
  environment.set("ATTUNE_ATTEMPT", "3");
  environment.set("ATTUNE_TASK_KEY", "its own");
  const auto trial = Trial::from_environment();
  REQUIRE(trial);
  CHECK_THAT(BufferClient::from_trial(*trial, {{"coordinator", 7}}).error().message,
             Contains("parameter \"coordinator\""));
  auto client = BufferClient::from_trial(*trial, {{"coordinator", world.file}});
  REQUIRE(client);
  auto script = World::play([&] {
    FakePeer peer = there.greet();
    peer.hear();
    peer.pushed(1);
  });
  CHECK(client->push("b", items(1)) == true);
  script.get();
  CHECK(there.self.name == "run-learn-1");
  CHECK(there.hello["attempt"] == 3);
  CHECK(there.hello["key"] == "its own");
  environment.set("NNI_PLATFORM", "");
  const auto alone = Trial::from_environment();
  REQUIRE(alone);
  CHECK_THAT(BufferClient::from_trial(*alone, {{"coordinator", world.file}}).error().message,
             Contains("no task of a coordinator"));
}

}  // namespace attune::buffer_client_test
