// A cancel overtakes what programs push and wait for: these have connections of their own, and no
// connection is served to its end before another one.
#include <catch2/catch.hpp>

#include "tests/cluster/pool/server_fixture.h"
#include "tests/wire/wire_fixture.h"

namespace attune::server_cancel_test {

using namespace attune::test;

std::unique_ptr<RawPeer> dial(ServerFixture& f, const Identity& self, json hello) {
  hello["type"] = "hello";
  auto peer = std::make_unique<RawPeer>(f.io, f.server->address());
  peer->read();
  peer->meet(self, f.address_for(self.role).secret);
  peer->write(hello);
  REQUIRE(f.run_until([&] { return !peer->messages.empty(); }));
  REQUIRE(peer->messages[0]["type"] == "welcome");
  return peer;
}

std::unique_ptr<RawPeer> program_of(ServerFixture& f, const char* task) {
  return dial(f, {"data", task}, {{"attempt", 0}, {"key", f.key_of_program(task)}});
}

TEST_CASE("server: a cancel overtakes a flood of data and a program that waits for some") {
  ServerFixture f;
  f.start_server();
  const auto worker = dial(f, {"worker", "w"}, to_json(worker_hello("w", 4)));
  auto& client = f.start_greeted_client();
  json learner = f.trial(0);
  learner["task"]["owns"] = {
      {{"id", "full"}, {"settings", R"({"policy": "uniform", "capacity": 100})"}},
      {{"id", "empty"}, {"settings", R"({"policy": "fifo"})"}}};
  json collector = f.trial(1);
  collector["task"]["uses"] = {"full"};
  client.say(learner);
  client.say(collector);
  REQUIRE(f.run_until([&] { return worker->messages.size() == 3; }));

  const auto consumer = program_of(f, "e-t0-0");
  consumer->write(json{{"type", "sample"}, {"buffer", "empty"}, {"seq", 1}, {"size", 1}});
  const auto producer = program_of(f, "e-t1-0");
  constexpr int kPushes = 2'000;
  std::string flood;
  for (int i = 1; i <= kPushes; ++i)
    flood += *encode_json_frame({{"type", "push"},
                                 {"buffer", "full"},
                                 {"seq", i},
                                 {"items", {{{"meta", std::string(10'000, 'x')}}}}});
  flood = producer->sealed(flood);
  boost::asio::async_write(producer->socket, boost::asio::buffer(flood),
                           [](error_code, std::size_t) {});
  REQUIRE(f.run_until([&] { return producer->messages.size() > 1; }));
  client.say({{"type", "cancel"}, {"task", "e-t0-0"}, {"how", "stop"}});
  REQUIRE(f.run_until([&] { return worker->messages.size() == 4; }));
  CHECK(worker->messages[3]["type"] == "cancel");
  CHECK(worker->messages[3]["task"] == "e-t0-0");
  CHECK(producer->messages.size() < kPushes);  // in the midst of it
  CHECK(consumer->messages.size() == 1);       // still waits, until the task has ended
  worker->write(json{{"type", "finished"},
                     {"task", "e-t0-0"},
                     {"lease", worker->messages[3]["lease"]},
                     {"state", "cancelled"},
                     {"cause", ""},
                     {"report", ""}});
  REQUIRE(f.run_until([&] { return consumer->messages.size() > 1; }));
  CHECK(consumer->messages[1]["code"] == "fenced");
  REQUIRE(f.run_until([&] { return client.has("finished", "e-t0-0"); }));
}

}  // namespace attune::server_cancel_test
