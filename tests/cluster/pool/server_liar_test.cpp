// A worker that lies, over real sockets, beside an honest one: each lie is refused in words, the
// coordinator stays, and the task of the honest one is what it would have been.
#include <catch2/catch.hpp>

#include "tests/cluster/pool/server_fixture.h"
#include "tests/wire/wire_fixture.h"

namespace attune::server_liar_test {

using namespace attune::test;
using Texts = std::vector<std::string>;

// The honest worker runs e-t0-0, which waits; the liar is leased e-t1-0. With the end all must be
// well.
struct LiarWorld {
  LiarWorld() {
    f.command = "report PERIODICAL 0 1; read x < go; report FINAL 0 2";
    f.start_server();
    f.start_worker("honest");
    client = &f.start_client();
    json hello = to_json(worker_hello("liar", 4));
    hello["type"] = "hello";
    raw = std::make_unique<RawPeer>(f.io, f.server->address());
    raw->read();
    raw->meet({"worker", "liar"}, f.address_for("worker").secret);
    raw->write(hello);
    run([&] { return client->has("welcome") && !raw->messages.empty(); });
    for (const int i : {0, 1}) {
      json submit = f.trial(i);
      submit["task"]["worker"] = i == 0 ? "honest" : "liar";
      client->say(submit);
    }
    run([&] { return client->has("info", "e-t0-0") && raw->messages.size() == 2; });
    lease = raw->messages[1]["lease"];
    honest_lease = f.server->coordinator().board().tasks().at("e-t0-0").lease;
  }

  void run(const std::function<bool()>& enough) { REQUIRE(f.run_until(enough)); }
  json about(const char* type, const std::string& task, LeaseId number, const json& more) const {
    json message = {{"type", type}, {"task", task}, {"lease", number}};
    message.update(more);
    return message;
  }
  json info(const std::string& task, LeaseId number, std::uint64_t seq) const {
    const json event = {{"event", "problem"}, {"text", "a lie"}};
    return about("info", task, number, {{"seq", seq}, {"event", event}});
  }
  json end(const std::string& task, LeaseId number, const char* report) const {
    return about("finished", task, number,
                 {{"state", "succeeded"}, {"cause", ""}, {"report", report}});
  }
  // What was said is heard when this is answered.
  std::vector<json> answers(const std::vector<json>& said) {
    raw->messages.clear();
    for (const json& message : said) raw->write(message);
    raw->write(end("nobody", 1, ""));
    run([&] {
      return std::ranges::any_of(raw->messages,
                                 [](const json& m) { return m.value("task", "") == "nobody"; });
    });
    raw->messages.pop_back();
    return raw->messages;
  }
  TaskState state(const std::string& id) const {
    return f.server->coordinator().board().tasks().at(id).state;
  }
  std::string refusal() {
    run([&] { return raw->ended; });
    REQUIRE(!raw->messages.empty());
    CHECK(raw->messages.back()["type"] == "error");
    return raw->messages.back().value("message", "");
  }
  void check_the_honest_one() {
    CHECK(state("e-t0-0") == TaskState::running);
    go.let(1);
    run([&] { return client->has("finished", "e-t0-0"); });
    const json last = *std::ranges::find_if(client->heard, [](const json& m) {
      return m["type"] == "finished" && m["task"] == "e-t0-0";
    });
    CHECK(last["state"] == "succeeded");
    CHECK(last["attempt"] == 0);
    CHECK(ServerFixture::reports(*client, "e-t0-0") == Texts{"1", "2"});
    CHECK(client->closed.empty());
  }
  std::ptrdiff_t count(const char* type, const std::string& task) const {
    return std::ranges::count_if(client->heard, [&](const json& m) {
      return m["type"] == type && m.value("task", "") == task;
    });
  }

  ServerFixture f;
  Gate go{f.folder.path / "go"};
  ServerFixture::Client* client = nullptr;
  std::unique_ptr<RawPeer> raw;
  LeaseId lease = 0, honest_lease = 0;
};

TEST_CASE("liar: words under the lease of an earlier coordinator are fenced off") {
  LiarWorld w;
  const LeaseId stale = w.lease - (LeaseId{1} << 32);
  const auto said = w.answers({w.about("started", "e-t1-0", stale, json::object()),
                               w.info("e-t1-0", stale, 1), w.end("e-t1-0", stale, "stale")});
  REQUIRE(said.size() == 4);
  for (const json& each : said) CHECK(each["lease"] == stale);
  for (const int i : {0, 1}) {
    CHECK(said[i]["type"] == "cancel");
    CHECK(said[i]["how"] == "kill");
  }
  // So that it need not say them again.
  CHECK(said[2]["type"] == "info_ack");
  CHECK(said[3]["type"] == "finished_ack");
  CHECK(w.state("e-t1-0") == TaskState::leased);
  CHECK(w.f.server->coordinator().fenced() == 4);  // with the one of answers()
  CHECK(w.count("info", "e-t1-0") == 0);
  w.check_the_honest_one();
}

TEST_CASE("liar: an end counts once however often it is said") {
  LiarWorld w;
  w.answers({w.about("started", "e-t1-0", w.lease, json::object()),
             w.end("e-t1-0", w.lease, "first"), w.end("e-t1-0", w.lease, "second")});
  w.run([&] { return w.client->has("finished", "e-t1-0"); });
  CHECK(w.client->heard.back()["report"] == "first");
  w.client->say({{"type", "forget"}, {"task", "e-t1-0"}});
  w.run([&] { return !w.f.server->coordinator().board().tasks().contains("e-t1-0"); });
  const auto said = w.answers({w.end("e-t1-0", w.lease, "third")});
  REQUIRE(said.size() == 1);
  CHECK(said[0]["type"] == "finished_ack");
  CHECK(w.count("finished", "e-t1-0") == 1);
  w.check_the_honest_one();
}

TEST_CASE("liar: it has no say in a task that somebody else holds") {
  LiarWorld w;
  w.answers({w.about("started", "e-t0-0", w.honest_lease, json::object()),
             w.info("e-t0-0", w.honest_lease, 7), w.end("e-t0-0", w.honest_lease, "a lie"),
             w.about("refused", "e-t0-0", w.honest_lease, {{"message", "a lie"}})});
  CHECK(w.f.server->coordinator().fenced() == 5);
  for (const json& message : w.client->heard)
    CHECK(dump_json(message).find("a lie") == std::string::npos);
  CHECK(w.f.server->coordinator().board().tasks().at("e-t0-0").worker == "honest");
  w.check_the_honest_one();
}

TEST_CASE("liar: bytes that are no frames cut it off") {
  LiarWorld w;
  const auto [bytes, reason] = GENERATE(table<std::string, std::string>({
      {std::string("\x7f\xff\xff\xff", 4), "over the limit of 16777216"},
      {std::string("\x01\0\0\1", 4), "over the limit of 16777216"},
      {std::string("\0\0\0\7garbage", 11), "garbage"},
      {std::string("\0\0\0\2[]", 6), "object"},
      {std::string("\0\0\0\7{\"\xff\":1}", 11), "invalid JSON"},
      {"GET / HTTP/1.1\r\n", "over the limit of 16777216"},
  }));
  w.raw->write(bytes);
  CHECK_THAT(w.refusal(), Catch::Contains(reason));
  w.run([&] {
    return w.f.server->coordinator().workers().workers().at("liar").state == WorkerState::lost;
  });
  w.check_the_honest_one();
}

TEST_CASE("liar: a message with a field that is wrong cuts it off and the field is named") {
  LiarWorld w;
  const auto [text, field] = GENERATE(table<std::string, std::string>({
      {R"({})", "type"},
      {R"({"type": ["finished"]})", "type"},
      {R"({"type": "lease", "task": "e-t1-0", "lease": 1})", "type"},
      {R"({"type": "started", "task": 1, "lease": 1})", "task"},
      {R"({"type": "started", "task": "e-t1-0"})", "lease"},
      {R"({"type": "started", "task": "e-t1-0", "lease": -1})", "lease"},
      {R"({"type": "started", "task": "e-t1-0", "lease": 1e300})", "lease"},
      {R"({"type": "started", "task": "e-t1-0", "lease": 18446744073709551615})", "lease"},
      {R"({"type": "info", "task": "e-t1-0", "lease": LEASE, "seq": 1, "event": []})", "event"},
      {R"({"type": "info", "task": "e-t1-0", "lease": LEASE, "event": {}})", "seq"},
      {R"({"type": "info", "task": "e-t1-0", "lease": LEASE, "seq": 1,
           "event": {"position": -1}})",
       "position"},
      {R"({"type": "finished", "task": "e-t1-0", "lease": LEASE, "state": "running",
           "cause": "", "report": ""})",
       "state"},
      {R"({"type": "finished", "task": "e-t1-0", "lease": LEASE, "state": "won",
           "cause": "", "report": ""})",
       "won"},
      {R"({"type": "finished", "task": "e-t1-0", "lease": LEASE, "state": "failed",
           "cause": "", "report": {}})",
       "report"},
      {R"({"type": "refused", "task": "e-t1-0", "lease": LEASE, "message": null})", "message"},
  }));
  std::string words = text;
  if (const auto at = words.find("LEASE"); at != std::string::npos)
    words.replace(at, 5, fmt::format("{}", w.lease));
  w.raw->write(*parse_json(words));
  CHECK_THAT(w.refusal(), Catch::Contains(field));
  CHECK(w.state("e-t1-0") == TaskState::leased);
  w.check_the_honest_one();
}

// In ASCII, as it is passed on, it would be larger than a frame: its client would wait for ever.
TEST_CASE("liar: an end that is too long to be passed on is refused") {
  LiarWorld w;
  std::string euros;
  for (int i = 0; i < 3'000'000; ++i) euros += "\u20ac";
  const std::string head = fmt::format(
      R"({{"type": "finished", "task": "e-t1-0", "lease": {}, "state": "failed", )", w.lease);
  const auto field = GENERATE(as<std::string>(), "report", "cause");
  const std::string text =
      head + (field == "cause" ? R"("report": "", "cause": ")" : R"("cause": "", "report": ")") +
      euros + "\"}";
  std::string frame;
  for (const int shift : {24, 16, 8, 0})
    frame += static_cast<char>(static_cast<unsigned char>(text.size() >> shift));
  frame = w.raw->sealed(frame + text);
  boost::asio::async_write(w.raw->socket, boost::asio::buffer(frame),
                           [](error_code, std::size_t) {});
  CHECK_THAT(w.refusal(), Catch::Contains(field));
  w.check_the_honest_one();
}

TEST_CASE("liar: a flood of metrics holds up neither words of others nor their tasks") {
  LiarWorld w;
  constexpr std::uint64_t kInfos = 20'000;
  std::string flood;
  for (std::uint64_t seq = 1; seq <= kInfos; ++seq)
    flood += *encode_json_frame(w.info("e-t1-0", w.lease, seq));
  flood = w.raw->sealed(flood);
  boost::asio::async_write(w.raw->socket, boost::asio::buffer(flood),
                           [](error_code, std::size_t) {});
  w.run([&] { return w.client->has("info", "e-t1-0"); });
  auto& other = w.f.start_client({"client", "d"});
  w.run([&] { return other.has("welcome"); });
  other.say({{"type", "status"}});
  w.run([&] { return other.has("status"); });
  CHECK(w.count("info", "e-t1-0") < static_cast<std::ptrdiff_t>(kInfos));  // in the midst of it
  w.check_the_honest_one();
  w.run([&] { return w.client->heard.size() > kInfos; });
  w.run([&] { return w.count("info", "e-t1-0") == static_cast<std::ptrdiff_t>(kInfos); });
  std::uint64_t seq = 0;
  for (const json& message : w.client->heard) {
    if (message["type"] == "info" && message["task"] == "e-t1-0") CHECK(message["seq"] == ++seq);
  }
}

TEST_CASE("liar: a program of an attempt that does not run is told so") {
  LiarWorld w;
  const auto attempt = GENERATE(as<std::int64_t>(), 1, -1, std::int64_t{1} << 32);
  auto& program = w.f.start_program("e-t0-0", attempt);
  w.run([&] { return !program.closed.empty() || program.has("welcome"); });
  CHECK_THAT(program.closed, Catch::Contains("attempt"));
  program.dialer->stop();
  w.check_the_honest_one();
}

}  // namespace attune::server_liar_test
