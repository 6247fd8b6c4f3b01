#include "cluster/pool/server/server.h"

#include <catch2/catch.hpp>

#include "tests/cluster/pool/server_fixture.h"

namespace attune::server_test {

using namespace attune::test;
using Texts = std::vector<std::string>;

TEST_CASE("server: trials of a client run on workers") {
  ServerFixture f;
  f.command = "report PERIODICAL 0 1; report FINAL 0 2";
  f.start_server();
  f.start_worker("v");
  f.start_worker("w");
  auto& client = f.start_greeted_client();
  for (int i = 0; i < 8; ++i) client.say(f.trial(i));
  REQUIRE(f.run_until([&] {
    return std::ranges::count(client.heard, "finished", [](const json& m) { return m["type"]; }) ==
           8;
  }));
  for (int i = 0; i < 8; ++i) {
    const std::string id = fmt::format("e-t{}-0", i);
    CHECK(client.has("submitted", id));
    CHECK(ServerFixture::reports(client, id) == Texts{"1", "2"});
    client.say({{"type", "forget"}, {"task", id}});
  }
  client.say({{"type", "status"}});
  REQUIRE(f.run_until([&] { return client.has("status"); }));
  const json status = client.heard.back();
  CHECK(status["workers"].size() == 2);
  CHECK(status["tasks"].empty());
  client.say({{"type", "shutdown"}});
  CHECK(f.run_until([&] { return f.finished; }));
}

TEST_CASE("server: killed and started again it goes on, at another port") {
  ServerFixture f;
  Gate go(f.folder.path / "go");
  f.command = "report PERIODICAL 0 1; read x < go; report FINAL 0 2";
  f.start_server();
  f.start_worker("w");
  auto& client = f.start_greeted_client();
  client.say(f.trial(0));
  client.say(f.trial(1));
  client.say(f.trial(2));  // for which there is no room
  REQUIRE(f.run_until([&] { return ServerFixture::reports(client, "e-t0-0").size() == 1; }));
  f.server.reset();
  REQUIRE(f.run_until([&] { return client.connection == nullptr; }));
  go.let(3);
  f.start_server();
  CHECK(f.server->went_on());
  client.dialer->dial();
  REQUIRE(f.run_until([&] {
    return client.has("finished", "e-t0-0") && client.has("finished", "e-t1-0") &&
           client.has("finished", "e-t2-0");
  }));
  for (const char* id : {"e-t0-0", "e-t1-0", "e-t2-0"})
    CHECK(ServerFixture::reports(client, id) == Texts{"1", "2"});
  CHECK(f.server->coordinator().board().epoch() == 2);
}

TEST_CASE("server: a worker that is lost, and comes back") {
  ServerFixture f;
  Gate go(f.folder.path / "go");
  f.command = "report PERIODICAL 0 1; read x < go; report FINAL 0 2";
  auto& client = f.start_trial();
  f.workers.clear();
  REQUIRE(f.run_until([&] {
    return f.server->coordinator().workers().workers().at("w").state == WorkerState::lost;
  }));
  f.start_worker("w");
  go.let(1);
  REQUIRE(f.run_until([&] { return client.has("finished"); }));
  CHECK(client.heard.back()["state"] == "succeeded");
  CHECK(ServerFixture::reports(client, "e-t0-0") == Texts{"1", "2"});
}

TEST_CASE("server: a worker drains when it is told to") {
  ServerFixture f;
  Gate go(f.folder.path / "go");
  f.command = "report PERIODICAL 0 1; read x < go";
  auto& client = f.start_trial();
  f.workers.at("w")->drain();
  client.say(f.trial(1));
  REQUIRE(f.run_until([&] { return client.has("submitted", "e-t1-0"); }));
  go.let(1);
  REQUIRE(f.run_until([&] { return f.done.contains("w"); }));
  CHECK(client.has("finished", "e-t0-0"));
  CHECK_FALSE(client.has("finished", "e-t1-0"));
  CHECK(f.run_until([&] { return f.server->coordinator().workers().workers().empty(); }));
}

TEST_CASE("server: it can be found again when its folder was taken away") {
  ServerFixture f;
  f.start_server();
  fs::remove_all(f.folder.path / "coordinator");
  auto& client = f.start_greeted_client();
  client.say(f.trial(0));
  f.start_worker("w");
  REQUIRE(f.run_until([&] { return client.has("finished"); }));
}

TEST_CASE("server: nonsense cuts off who says it, and nobody else") {
  ServerFixture f;
  f.start_server();
  f.start_worker("w");
  auto& good = f.start_client();
  REQUIRE(f.run_until(
      [&] { return good.has("welcome") && !f.server->coordinator().workers().workers().empty(); }));
  SECTION("hellos") {
    const auto [role, hello, answer] = GENERATE(table<std::string, std::string, std::string>({
        {"client", R"({"key": 1})", "key"},
        {"client", R"({"key": "x"})", "64 hexadecimal digits"},
        {"worker", R"({"worker": "x"})", "key"},
        {"data", R"({"attempt": 0, "key": ""})", "attempt 0 of task x does not run"},
        {"data", R"({"attempt": 0})", "key"},
    }));
    auto& bad = f.start_client({role, "x"}, *parse_json(hello));
    REQUIRE(f.run_until([&] { return !bad.closed.empty(); }));
    CHECK_THAT(bad.closed, Catch::Contains(answer));
    bad.dialer->stop();
  }
  SECTION("messages of a client") {
    auto& bad = f.start_greeted_client({"client", "d"});
    bad.say(GENERATE(json{{"type", "x"}}, json{{"type", 1}}, json{{"type", "submit"}},
                     json{{"type", "cancel"}, {"task", "x"}}));
    REQUIRE(f.run_until([&] { return !bad.closed.empty(); }));
    CHECK(bad.has("error"));
  }
  SECTION("a task that is somebody else's, or wrong") {
    good.say(f.trial(0));
    REQUIRE(f.run_until([&] { return good.has("submitted"); }));
    auto& other = f.start_greeted_client({"client", "d"});
    other.say(f.trial(0));
    other.say({{"type", "cancel"}, {"task", "e-t0-0"}, {"how", "kill"}});
    json wrong = f.trial(1);
    wrong["task"]["owns"] = {{{"id", "b"}, {"settings", R"({"policy": "none"})"}}};
    other.say(wrong);
    REQUIRE(f.run_until([&] { return other.heard.size() == 4; }));
    for (std::size_t i = 1; i < 4; ++i) CHECK(other.heard[i]["type"] == "refused");
    CHECK_THAT(other.heard[3]["message"].get<std::string>(), Catch::Contains("buffer b: policy"));
    CHECK(other.closed.empty());
  }
  good.say({{"type", "status"}});
  CHECK(f.run_until([&] { return good.has("status"); }));
  CHECK(f.server->coordinator().workers().workers().at("w").state == WorkerState::ready);
}

TEST_CASE("server: a second worker of the same name is refused, and the first works on") {
  ServerFixture f;
  f.start_server();
  f.start_worker("w");
  REQUIRE(f.run_until([&] { return !f.server->coordinator().workers().workers().empty(); }));
  auto& second = f.start_client({"worker", "w"}, to_json(worker_hello("w", 1, "other")));
  REQUIRE(f.run_until([&] { return !second.closed.empty(); }));
  CHECK_THAT(second.closed, Catch::Contains("a worker w is here already"));
  CHECK(f.server->coordinator().workers().workers().at("w").hello.incarnation == "1");
}

TEST_CASE("server: a buffer is there before its owner has a worker") {
  ServerFixture f;
  make_fifo(f.folder.path / "never");
  f.command = "report PERIODICAL 0 1; read x < never";
  f.start_server();
  f.start_worker("w", 1);
  auto& client = f.start_greeted_client();
  json learner = f.trial(0), collector = f.trial(1);
  learner["task"]["owns"] = {{{"id", "b"}, {"settings", R"({"policy": "fifo", "capacity": 4})"}}};
  collector["task"]["uses"] = {"b"};
  client.say(collector);
  REQUIRE(f.run_until([&] { return client.has("info", "e-t1-0"); }));
  client.say(learner);  // no room for it
  client.say({{"type", "status"}});
  REQUIRE(f.run_until([&] { return client.has("status"); }));
  auto& producer = f.start_program("e-t1-0");
  REQUIRE(f.run_until([&] { return producer.has("welcome"); }));
  producer.say({{"type", "push"}, {"buffer", "b"}, {"seq", 1}, {"items", {{{"meta", "x"}}}}});
  REQUIRE(f.run_until([&] { return producer.has("pushed") || producer.has("closed"); }));
  CHECK(producer.has("pushed"));
  client.say({{"type", "shutdown"}});
  REQUIRE(f.run_until([&] { return !client.connection || f.finished; }));
}

TEST_CASE("server: programs push and sample") {
  ServerFixture f;
  make_fifo(f.folder.path / "never");
  f.command = "report PERIODICAL 0 1; read x < never";
  f.start_server();
  f.start_worker("w", 2);
  auto& client = f.start_greeted_client();
  json learner = f.trial(0);
  learner["task"]["owns"] = {
      {{"id", "b"}, {"settings", R"({"policy": "fifo", "capacity": 4, "batch": 2})"}}};
  json collector = f.trial(1);
  collector["task"]["uses"] = {"b"};
  client.say(learner);
  client.say(collector);
  REQUIRE(
      f.run_until([&] { return client.has("info", "e-t0-0") && client.has("info", "e-t1-0"); }));
  auto& consumer = f.start_program("e-t0-0");
  auto& producer = f.start_program("e-t1-0");
  REQUIRE(f.run_until([&] { return consumer.has("welcome") && producer.has("welcome"); }));
  consumer.say({{"type", "sample"}, {"buffer", "b"}, {"seq", 1}, {"size", 2}});  // waits
  json items = json::array();
  for (int i = 0; i < 7; ++i) items.push_back({{"meta", fmt::format("{}", i)}});
  producer.say(
      {{"type", "push"}, {"buffer", "b"}, {"seq", 1}, {"items", items}});  // 2 are gone, 4 fit
  REQUIRE(f.run_until([&] { return consumer.has("batch"); }));
  CHECK(consumer.heard.back()["items"][0]["meta"] == "0");
  CHECK(consumer.heard.back()["items"][1]["meta"] == "1");
  CHECK_FALSE(producer.has("pushed"));
  // CANCEL reaches a worker whose program waits: it has a connection of its own.
  SECTION("the consumer makes room") {
    consumer.say({{"type", "sample"}, {"buffer", "b"}, {"seq", 2}, {"size", 1}});
    REQUIRE(f.run_until([&] { return producer.has("pushed"); }));
    CHECK(producer.heard.back()["seq"] == 7);
  }
  SECTION("a coordinator that comes back has the same buffer") {
    f.server.reset();
    REQUIRE(f.run_until(
        [&] { return !consumer.connection && !producer.connection && !client.connection; }));
    f.start_server();
    consumer.dialer->dial();
    client.dialer->dial();
    producer.dialer->dial();
    REQUIRE(f.run_until(
        [&] { return consumer.connection && client.connection && producer.connection; }));
    producer.say({{"type", "push"}, {"buffer", "b"}, {"seq", 1}, {"items", items}});  // again
    for (int i = 2; i < 7; ++i) {
      consumer.heard.clear();
      consumer.say({{"type", "sample"}, {"buffer", "b"}, {"seq", i}, {"size", 1}});
      REQUIRE(f.run_until([&] { return consumer.has("batch"); }));
      CHECK(consumer.heard.back()["items"][0]["meta"] == fmt::format("{}", i));
    }
    REQUIRE(f.run_until([&] { return producer.has("pushed"); }));
  }
  SECTION("the end of the owner closes it, and lets those go who wait") {
    client.say({{"type", "cancel"}, {"task", "e-t0-0"}, {"how", "stop"}});
    REQUIRE(f.run_until([&] { return producer.has("closed"); }));
    producer.say({{"type", "push"}, {"buffer", "b"}, {"seq", 8}, {"items", {{{"meta", "x"}}}}});
    REQUIRE(f.run_until([&] {
      return std::ranges::count(producer.heard, "closed",
                                [](const json& m) { return m["type"]; }) == 2;
    }));
  }
  SECTION("another attempt is fenced off, and so are buffers of others") {
    auto& late = f.start_program("e-t1-0", 1);
    REQUIRE(f.run_until([&] { return !late.closed.empty(); }));
    late.dialer->stop();
    producer.say({{"type", "sample"}, {"buffer", "c"}, {"seq", 1}, {"size", 1}});
    REQUIRE(f.run_until([&] { return !producer.closed.empty(); }));
    CHECK(producer.heard.back()["message"] == "buffer: task e-t1-0 has none of the name c");
  }
  client.say({{"type", "shutdown"}});
  const bool over = f.run_until([&] { return !client.connection || f.finished; });
  if (f.server) UNSCOPED_INFO(dump_json(status_message(f.server->coordinator(), 0)));
  for (const char* job : {"t0", "t1"})
    UNSCOPED_INFO(read_text(f.folder.path / "experiment/trials" / job / "spool.0"));
  REQUIRE(over);
}

TEST_CASE("server: who cannot be told is cut off and what cannot be passed on is refused") {
  ServerFixture f;
  f.start_server();
  auto& client = f.start_client();
  REQUIRE(f.run_until([&] { return client.connection != nullptr; }));
  SECTION("a status that is larger than a frame") {
    for (int i = 0; i < 17; ++i) {
      const std::string id = fmt::format("e-t{}-0", i);
      client.say(f.trial(i));
      client.say({{"type", "cancel"},
                  {"task", id},
                  {"how", "stop"},
                  {"cause", std::string(1'000'000, 'x')}});
      REQUIRE(f.run_until([&] { return client.has("finished", id); }));
    }
    client.say({{"type", "status"}});
    REQUIRE(f.run_until([&] { return !client.closed.empty(); }));
    CHECK_THAT(client.heard.back().value("message", ""),
               Catch::Contains("does not fit into a message"));
  }
  SECTION("a task that no lease has room for") {
    json task = f.trial(0);
    task["task"]["program"] = std::string(2'700'000, '\x01');  // six bytes each
    client.say(task);
    REQUIRE(f.run_until([&] { return client.has("refused") || client.has("submitted"); }));
    CHECK_THAT(client.heard.back().value("message", ""),
               Catch::Contains("too many to be passed on"));
  }
}

}  // namespace attune::server_test
