// Buffers of a coordinator that is cut off and killed, and the programs that use them.
#include <catch2/catch.hpp>

#include "tests/cluster/pool/server_fixture.h"

namespace attune::server_buffer_test {

using namespace attune::test;

// A learner that runs and owns the buffer `b`.
struct Learner : ServerFixture {
  explicit Learner(const std::string& settings) {
    make_fifo(folder.path / "never");
    command = "read x < never";
    start_server();
    start_worker("w", 2);
    client = &start_client();
    REQUIRE(run_until([&] { return client->connection != nullptr; }));
    json learner = trial(0);
    learner["task"]["owns"] = {{{"id", "b"}, {"settings", settings}}};
    client->say(learner);
    REQUIRE(run_until([&] { return runs(); }));
  }
  ~Learner() { workers["w"]->vacate("the test is over"); }

  bool runs() const {
    const auto& tasks = server->coordinator().board().tasks();
    return tasks.contains("e-t0-0") && tasks.at("e-t0-0").state == TaskState::running;
  }
  Client& program() {
    Client& made = start_program("e-t0-0");
    REQUIRE(run_until([&] { return made.connection != nullptr; }));
    return made;
  }
  void push(const Client& program, std::int64_t first, int count, const std::string& meta = "m") {
    json items = json::array();
    for (int i = 0; i < count; ++i) items.push_back({{"meta", meta}});
    const json pushed = {{"type", "pushed"}, {"buffer", "b"}, {"seq", first + count - 1}};
    program.say({{"type", "push"}, {"buffer", "b"}, {"seq", first}, {"items", items}});
    REQUIRE(run_until([&] { return std::ranges::count(program.heard, pushed) == 1; }));
  }
  json status() {
    client->heard.clear();
    client->say({{"type", "status"}});
    REQUIRE(run_until([&] { return client->has("status"); }));
    return client->heard.back()["buffers"]["b"];
  }
  void kill_server() {
    server.reset();
    REQUIRE(run_until([&] { return !client->connection; }));
  }
  void start_again() {
    start_server();
    client->dialer->dial();
    REQUIRE(run_until([&] { return client->connection && runs(); }));
  }

  Client* client = nullptr;
};

TEST_CASE("server: draws of a coordinator that was given no seed are those of its journal") {
  Learner f(R"({"policy": "uniform", "capacity": 100, "batch": 4, "max_use": 2})");
  auto& program = f.program();
  f.push(program, 1, 20);
  // Who draws otherwise uses up others, and cannot give as many batches, or has other items left.
  for (std::size_t i = 1; i <= 8; ++i) {
    program.say({{"type", "sample"}, {"buffer", "b"}, {"seq", i}, {"size", 4}});
    REQUIRE(f.run_until([&] {
      return std::ranges::count(program.heard, "batch", [](const json& m) { return m["type"]; }) ==
             static_cast<std::ptrdiff_t>(i);
    }));
  }
  const json before = f.status();
  for (int life = 0; life < 5; ++life) {
    f.kill_server();
    f.start_again();
    CHECK(f.status() == before);
  }
}

TEST_CASE("server: another seed than that of the journal is refused and the seed is named") {
  ServerFixture f;
  f.seed = 18'446'744'073'709'551'615U;
  f.start_server();
  f.server.reset();
  f.seed.reset();
  f.start_server();
  CHECK(f.server->went_on());
  f.server.reset();
  f.seed = 18'446'744'073'709'551'615U;
  f.start_server();
  f.server.reset();
  f.seed = 7;
  CHECK_THAT(f.make_server().error().message,
             Catch::Contains("coordinator.journal: it goes on with the seed "
                             "18446744073709551615, and not with 7"));
}

TEST_CASE("server: a batch that a consumer has not heard is given again") {
  Learner f(R"({"policy": "fifo", "batch": 1})");
  auto& program = f.program();
  f.push(program, 1, 1, "first");
  f.push(program, 2, 1, "second");
  const json sample = {{"type", "sample"}, {"buffer", "b"}, {"seq", 1}, {"size", 1}};
  program.say(sample);
  // It is drawn, and cut off before it can be heard.
  program.connection->close("cut");
  REQUIRE(f.run_until([&] { return program.connection == nullptr; }));
  if (GENERATE(false, true)) {
    REQUIRE(f.run_until([&] { return f.status()["sampled"] == 1; }));
    f.kill_server();
    f.start_again();
  }
  auto& again = f.program();
  again.say(sample);
  REQUIRE(f.run_until([&] { return again.has("batch"); }));
  CHECK(again.heard.back()["items"][0]["meta"] == "first");
  CHECK(f.status()["sampled"] == 1);
}

TEST_CASE("server: a second owner of a buffer is refused") {
  Learner f(R"({"policy": "fifo"})");
  json other = f.trial(1);
  other["task"]["owns"] = {{{"id", "b"}, {"settings", R"({"policy": "fifo"})"}}};
  f.client->say(other);
  REQUIRE(f.run_until([&] { return f.client->has("refused", "e-t1-0"); }));
  CHECK(f.client->heard.back()["message"] == "buffer b: it is that of task e-t0-0");
}

}  // namespace attune::server_buffer_test
