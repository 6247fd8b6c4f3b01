// Who may say what: each role by its own secret, each name and each attempt by its own key.
#include <catch2/catch.hpp>

#include "cluster/pool/name_key.h"
#include "cluster/pool/roles.h"
#include "tests/cluster/pool/server_fixture.h"
#include "tests/wire/wire_fixture.h"
#include "wire/address_file.h"

namespace attune::server_roles_test {

using namespace attune::test;
using Catch::Contains;

struct RolesWorld : ServerFixture {
  RolesWorld() { start_server(); }

  WireAddress address_of(const std::string& role) const {
    return read_address_file(role_file(folder.path / "coordinator", role)).value();
  }
  // Proves itself by the secret, and says hello.
  std::unique_ptr<RawPeer> peer(const Identity& who, const Secret& secret, json hello) {
    auto made = std::make_unique<RawPeer>(io, server->address());
    made->read();
    made->meet(who, secret);
    hello["type"] = "hello";
    made->write(hello);
    return made;
  }
  std::unique_ptr<RawPeer> peer(const Identity& who, const json& hello) {
    return peer(who, address_of(who.role).secret, hello);
  }
  std::unique_ptr<RawPeer> welcome(const Identity& who, const json& hello) {
    auto made = peer(who, hello);
    REQUIRE(run_until([&] { return !made->messages.empty(); }));
    CHECK(made->messages[0]["type"] == "welcome");
    made->messages.clear();
    return made;
  }
  json answer(RawPeer& peer, const json& said) {
    peer.write(said);
    REQUIRE(run_until([&] { return !peer.messages.empty(); }));
    return std::exchange(peer.messages, {}).front();
  }
  std::string refusal(RawPeer& peer) {
    REQUIRE(run_until([&] { return peer.ended; }));
    REQUIRE(!peer.messages.empty());
    CHECK(peer.messages.back()["type"] == "error");
    return peer.messages.back().value("message", "");
  }
  json worker(const std::string& id, const std::string& key) const {
    WorkerHello hello = worker_hello(id, 4);
    hello.key = test_key(key);
    return to_json(hello);
  }
  static json key(const std::string& of) { return {{"key", test_key(of)}}; }
  bool has(const std::string& task) const {
    return server->coordinator().board().tasks().contains(task);
  }
};

TEST_CASE("server roles: a secret is good for its own role only") {
  RolesWorld w;
  for (const RoleFile& knows : kRoleFiles) {
    for (const RoleFile& role : kRoleFiles) {
      if (role.role == knows.role) continue;
      CHECK_FALSE(w.address_of(std::string(role.role)).secret ==
                  w.address_of(std::string(knows.role)).secret);
    }
  }
  const auto dialled = GENERATE(as<std::string>(), "worker", "client", "view");
  ServerFixture::Client client;
  DialerOptions dial = w.dial();
  dial.file.clear();
  dial.address = w.server->address();
  dial.secret = w.address_of("data").secret;
  Dialer dialer(w.io, dial, {dialled, "x"}, Rng(2),
                {[] { return json::object(); }, [](std::unique_ptr<Connection>, const json&) {},
                 [&](DialState state, const std::string& why) {
                   if (state == DialState::refused) client.closed = why;
                 }});
  dialer.dial();
  REQUIRE(w.run_until([&] { return !client.closed.empty(); }));
  CHECK_THAT(client.closed, Contains("does not know the secret of role " + dialled));
}

TEST_CASE("server roles: a later coordinator has new secrets and those who are there find it") {
  RolesWorld w;
  w.command = "true";
  w.start_worker("w");
  const auto old = w.address_of("worker");
  const auto views = w.address_of("view");
  w.server.reset();
  w.start_server();
  CHECK_FALSE(w.address_of("worker").secret == old.secret);
  CHECK_FALSE(w.address_of("view").secret == views.secret);
  REQUIRE(w.run_until([&] { return w.server->coordinator().workers().workers().contains("w"); }));
  DialerOptions dial = w.dial();
  dial.file.clear();
  dial.address = w.server->address();
  dial.secret = old.secret;
  std::string refused;
  Dialer dialer(w.io, dial, {"worker", "v"}, Rng(2),
                {[] { return json::object(); }, [](std::unique_ptr<Connection>, const json&) {},
                 [&](DialState state, const std::string& why) {
                   if (state == DialState::refused) refused = why;
                 }});
  dialer.dial();
  REQUIRE(w.run_until([&] { return !refused.empty(); }));
  CHECK_THAT(refused, Contains("does not know the secret"));
}

TEST_CASE("server roles: who may only look looks") {
  RolesWorld w;
  const auto client = w.welcome({"client", "c"}, RolesWorld::key("c"));
  CHECK(w.answer(*client, w.trial(0))["type"] == "submitted");
  auto view = w.welcome({"view", "v"}, json::object());
  const json status = w.answer(*view, {{"type", "status"}});
  CHECK(status["type"] == "status");
  CHECK(status["tasks"].size() == 1);
  const auto word =
      GENERATE_REF(values<json>({{{"type", "end_task"}, {"task", "e-t0-0"}, {"cause", "so"}},
                                 {{"type", "cancel"}, {"task", "e-t0-0"}, {"how", "stop"}},
                                 {{"type", "drain_worker"}, {"worker", "w"}},
                                 {{"type", "shutdown"}},
                                 {{"type", "forget"}, {"task", "e-t0-0"}},
                                 w.trial(1),
                                 {{"type", "started"}, {"task", "e-t0-0"}, {"lease", 1}}}));
  view->write(word);
  CHECK_THAT(w.refusal(*view), Contains("view may ask for the status only") &&
                                   Contains(word["type"].get<std::string>()));
  CHECK(w.has("e-t0-0"));
  CHECK(w.server->coordinator().board().tasks().at("e-t0-0").state == TaskState::queued);
  CHECK_FALSE(w.has("e-t1-0"));
}

TEST_CASE("server roles: a worker submits and cancels nothing") {
  RolesWorld w;
  const auto client = w.welcome({"client", "c"}, RolesWorld::key("c"));
  json task = w.trial(0);
  task["task"]["labels"] = {"none"};
  CHECK(w.answer(*client, task)["type"] == "submitted");
  const auto word = GENERATE_REF(
      values<json>({w.trial(1),
                    {{"type", "cancel"}, {"task", "e-t0-0"}, {"lease", 1}, {"how", "stop"}},
                    {{"type", "end_task"}, {"task", "e-t0-0"}, {"lease", 1}, {"cause", "so"}},
                    {{"type", "status"}}}));
  const auto worker = w.welcome({"worker", "w"}, w.worker("w", "w"));
  worker->write(word);
  w.refusal(*worker);
  CHECK(w.server->coordinator().board().tasks().at("e-t0-0").state == TaskState::queued);
  CHECK_FALSE(w.has("e-t1-0"));
}

TEST_CASE("server roles: a client without a key gives orders and has no tasks") {
  RolesWorld w;
  const auto client = w.welcome({"client", "c"}, RolesWorld::key("c"));
  CHECK(w.answer(*client, w.trial(0))["type"] == "submitted");
  // Under a name that somebody has, too: it is not taken from him.
  const auto orders = w.welcome({"client", "c"}, json::object());
  CHECK(w.answer(*orders, {{"type", "status"}})["type"] == "status");
  for (const json& word :
       std::vector<json>{{{"type", "cancel"}, {"task", "e-t0-0"}, {"how", "stop"}},
                         {{"type", "shutdown"}},
                         w.trial(1)}) {
    const auto other = w.welcome({"client", "d"}, json::object());
    other->write(word);
    CHECK_THAT(w.refusal(*other), Contains("has said no key"));
  }
  CHECK_FALSE(w.has("e-t1-0"));
  const json told = w.answer(*orders, {{"type", "end_task"}, {"task", "e-t0-0"}, {"cause", "so"}});
  CHECK(told == json{{"type", "told_to_end"}, {"task", "e-t0-0"}, {"client", "c"}});
  // Its client has heard so.
  REQUIRE(w.run_until([&] { return !client->messages.empty(); }));
  CHECK(client->messages.back()["type"] == "finished");
  CHECK_FALSE(client->ended);
}

TEST_CASE("server roles: names are taken from nobody") {
  RolesWorld w;
  const auto client = w.welcome({"client", "c"}, RolesWorld::key("c"));
  const auto worker = w.welcome({"worker", "w"}, w.worker("w", "w"));
  const auto thief = w.peer({"client", "c"}, RolesWorld::key("d"));
  CHECK_THAT(w.refusal(*thief), Contains("the name c is that of another client"));
  CHECK(thief->messages.back()["final"] == true);
  const auto other = w.peer({"worker", "w"}, w.worker("w", "v"));
  CHECK_THAT(w.refusal(*other), Contains("the name w is that of another worker"));
  CHECK(other->messages.back()["final"] == false);
  // What is proven counts.
  const auto liar = w.peer({"worker", "v"}, w.worker("w", "w"));
  CHECK_THAT(w.refusal(*liar), Contains("worker"));
  for (const char* name : {"", "../x", "\x1b[2J"}) {
    const auto bad = w.peer({"client", name}, RolesWorld::key("c"));
    CHECK_THAT(w.refusal(*bad), Contains("letters, digits"));
  }
  CHECK_FALSE(client->ended);
  CHECK_FALSE(worker->ended);
  const auto again = w.welcome({"client", "c"}, RolesWorld::key("c"));
  REQUIRE(w.run_until([&] { return client->ended; }));
}

TEST_CASE("server roles: a program acts for its own attempt") {
  RolesWorld w;
  const auto client = w.welcome({"client", "c"}, RolesWorld::key("c"));
  const auto worker = w.welcome({"worker", "w"}, w.worker("w", "w"));
  for (const int i : {0, 1}) {
    json task = w.trial(i);
    task["task"]["owns"] = {{{"id", fmt::format("b{}", i)}, {"settings", R"({"policy": "fifo"})"}}};
    client->write(task);
  }
  REQUIRE(w.run_until([&] { return worker->messages.size() == 2; }));
  const std::string key = worker->messages[0]["key"], other = worker->messages[1]["key"];
  CHECK(key.size() == 64);
  CHECK(key != other);
  const auto hello = [](int attempt, const json& said) {
    return json{{"attempt", attempt}, {"key", said}};
  };
  for (const json& wrong : std::vector<json>{other, test_key("c"), "", 7}) {
    const auto stranger = w.peer({"data", "e-t0-0"}, hello(0, wrong));
    CHECK_THAT(w.refusal(*stranger), Contains("key"));
  }
  const auto fenced = w.peer({"data", "e-t0-0"}, hello(1, key));
  CHECK_THAT(w.refusal(*fenced), Contains("attempt 1 of task e-t0-0 does not run"));
  const auto program = w.welcome({"data", "e-t0-0"}, hello(0, key));
  const json pushed = w.answer(
      *program, {{"type", "push"}, {"buffer", "b0"}, {"seq", 1}, {"items", {{{"meta", "m"}}}}});
  CHECK(pushed["type"] == "pushed");
  program->write({{"type", "push"}, {"buffer", "b1"}, {"seq", 1}, {"items", {{{"meta", "m"}}}}});
  CHECK_THAT(w.refusal(*program), Contains("buffer"));
  // A later coordinator gives the same key for the same lease.
  const LeaseId lease = w.server->coordinator().board().tasks().at("e-t0-0").lease;
  CHECK(program_key(w.server->coordinator().board().secret(), "e-t0-0", lease) == key);
}

}  // namespace attune::server_roles_test
