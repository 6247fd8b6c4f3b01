// The real attuned over a WebSocket: both dialects of NNI, and what a manager can do to it.
#include <signal.h>

#include <catch2/catch.hpp>

#include "base/base64.h"
#include "tests/support/daemon_process.h"
#include "tests/support/manager_socket.h"
#include "tests/support/transcript_text.h"

namespace attune::websocket_test {

constexpr const char* kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

std::vector<std::string> tuner(const std::string& name = "Random") {
  return DaemonProcess::exp_params({{"tuner", {{"name", name}, {"classArgs", {{"seed", 1}}}}}});
}

DaemonProcess start(const ManagerSocket& manager,
                    const std::vector<std::string>& arguments = tuner()) {
  return DaemonProcess(arguments, {{"NNI_TUNER_COMMAND_CHANNEL", manager.url()}});
}

// A manager that listens, with a daemon that has connected and has its space.
struct Running {
  explicit Running(Dialect dialect, std::vector<std::string> more = {}) : manager(dialect) {
    manager.listen();
    auto arguments = tuner();
    arguments.insert(arguments.end(), more.begin(), more.end());
    daemon.emplace(arguments, std::map<std::string, std::string>{
                                  {"NNI_TUNER_COMMAND_CHANNEL", manager.url()}});
    manager.accept();
    manager.send("IN", kSpace);
    REQUIRE(outlines(manager.sync()) == "ID");
  }

  bool logged(const std::string& text) const {
    return daemon->log().find(text) != std::string::npos;
  }

  ManagerSocket manager;
  std::optional<DaemonProcess> daemon;
};

// Ten trials with results, over anything that has send() and sync().
template <class Manager>
std::vector<Frame> experiment(Manager& manager) {
  manager.send("IN", R"({"x":{"_type":"normal","_value":[0,1]},
                         "c":{"_type":"choice","_value":["a","é"]}})");
  for (int i = 0; i < 10; ++i) {
    const std::string job = "T" + std::to_string(i);
    manager.send("GE", "1");
    manager.send("ME", dump_json({{"parameter_id", i},
                                  {"trial_job_id", job},
                                  {"type", "FINAL"},
                                  {"sequence", 0},
                                  {"value", std::to_string(i * 7 % 11)}}));
    manager.send("EN", dump_json({{"trial_job_id", job},
                                  {"event", "SUCCEEDED"},
                                  {"hyper_params", dump_json({{"parameter_id", i}})}}));
  }
  return manager.sync();
}

TEST_CASE("a WebSocket gives the answers that pipes give") {
  DaemonProcess piped(tuner("TPE"));
  const auto expected = experiment(piped);
  REQUIRE(expected.size() == 11);

  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  ManagerSocket manager(dialect);
  manager.listen();
  DaemonProcess daemon = start(manager, tuner("TPE"));
  manager.accept();
  CHECK(experiment(manager) == expected);
  manager.send("TE");
  const auto rest = manager.receive_all();
  if (dialect == Dialect::v3) {
    CHECK(rest == std::vector<Frame>{{"_bye_", ""}});
    CHECK(manager.close_code() == 4000);
  } else {
    CHECK(rest.empty());
    CHECK(manager.close_code() == 1000);
  }
  CHECK(daemon.wait() == 0);
  CHECK(daemon.diagnostics().empty());
}

TEST_CASE("large and fragmented messages") {
  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  Running run(dialect);
  json values = json::array();
  for (int i = 0; i < 20'000; ++i) values.push_back("value " + std::to_string(i));
  const std::string space = dump_json({{"c", {{"_type", "choice"}, {"_value", values}}}});
  REQUIRE(space.size() > 160'000);
  run.manager.send("SS", space);
  run.manager.send_fragmented(encode_message(dialect, {"GE", "3"}), 1);
  run.manager.send_fragmented(encode_message(dialect, {"SS", space}), 4096);
  const auto frames = run.manager.sync();
  CHECK(outlines(frames) == "TR 0, TR 1, TR 2");
  for (const Frame& frame : frames) CHECK(frame.payload.find("value ") != std::string::npos);
  CHECK(run.daemon->log().find("ERROR") == std::string::npos);
}

TEST_CASE("pings are answered while the queues are full") {
  Running run(Dialect::v2, {"--max-queue", "65536"});
  constexpr std::size_t kTrials = 20'000;
  run.manager.send("GE", std::to_string(kTrials));
  // More than the queue takes while the worker is busy with those.
  for (int i = 0; i < 300; ++i) run.manager.send("GE", "1");
  CHECK(run.manager.ping() < kTrials);
  CHECK(run.manager.sync().size() == kTrials + 300);
}

TEST_CASE("a connection of NNI 3.0 that drops is made again, and nothing that waited is lost") {
  ManagerSocket manager(Dialect::v3);
  manager.listen(4096);
  DaemonProcess daemon = start(manager);
  manager.accept();
  manager.send("IN", kSpace);
  REQUIRE(outlines(manager.sync()) == "ID");
  // The connection drops with answers on their way.
  constexpr int kTrials = 20'000;
  manager.send("GE", std::to_string(kTrials));
  REQUIRE(manager.receive());
  manager.drop();
  manager.accept();
  int expected = -1;  // those that the system had already taken are lost with the connection
  bool ordered = true;
  while (expected < kTrials) {
    const auto frame = manager.receive();
    REQUIRE(frame);
    const int id = std::stoi(outline(*frame).substr(3));
    ordered &= expected < 0 || id == expected;
    expected = id + 1;
  }
  CHECK(ordered);
  manager.send("GE", "1");
  CHECK(outlines(manager.sync()) == "TR " + std::to_string(kTrials));
  CHECK(daemon.log().find("connected again to " + manager.url()) != std::string::npos);
  manager.send("TE");
  CHECK(daemon.wait() == 0);
}

TEST_CASE("before 3.0 a drop is the end of input, and so is good-bye in 3.0") {
  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  Running run(dialect);
  if (dialect == Dialect::v2) {
    SECTION("drop") { run.manager.drop(); }
    SECTION("close") { run.manager.close(1001); }
  } else {
    run.manager.send_message(R"({"type":"_bye_","reason":"TE command"})");
    SECTION("bye") {}
    SECTION("bye and drop") { run.manager.drop(); }
    SECTION("bye and close") { run.manager.close(4000); }
  }
  CHECK(run.daemon->wait() == 0);
  CHECK(run.logged("end of input"));
  CHECK(run.daemon->diagnostics().empty());
}

TEST_CASE("a manager that does not answer the close does not keep it from exiting") {
  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  Running run(dialect);
  run.manager.send("TE");
  CHECK(run.daemon->wait() == 0);
}

TEST_CASE("a bad message is logged, and the next one is handled") {
  struct Row {
    Dialect dialect;
    std::string message, error;
    bool text = true;
  };
  const auto row = GENERATE(values<Row>({
      {Dialect::v2, "G", "1 bytes ignored: a command of two letters expected"},
      {Dialect::v2, "", "0 bytes ignored: a command of two letters expected"},
      {Dialect::v2, "ZZ{}", "unknown command"},
      {Dialect::v2, "GE1", "ignored: binary, text is expected; its first bytes: 'GE1'", false},
      {Dialect::v3, R"({"content":"1"})", R"("type" with a command is missing)"},
      {Dialect::v3, R"({"type":"_hi_"})", R"(unknown type "_hi_")"},
      {Dialect::v3, R"({"type":"ZZ"})", "unknown command"},
      {Dialect::v3, "GE1", "ignored: invalid JSON"},
  }));
  CAPTURE(row.message);
  Running run(row.dialect);
  run.manager.send_message(row.message, row.text);
  if (row.dialect == Dialect::v3) run.manager.send("_nop_");
  run.manager.send("GE", "1");
  CHECK(outlines(run.manager.sync()) == "TR 0");
  CHECK(run.logged(row.error));
  run.manager.send("TE");
  CHECK(run.daemon->wait() == 0);
}

TEST_CASE("what ends the stream of messages ends it with 3") {
  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  Running run(dialect, {"--max-payload", "1024"});
  std::string message;
  SECTION("a message over the limit: the manager learns why") {
    run.manager.send("GE", std::string(2000, ' ') + "1");
    const auto frame = run.manager.receive();
    REQUIRE(frame);
    CHECK(frame->code == "ER");
    CHECK(frame->payload.find("over the limit of 1024 bytes") != std::string::npos);
    run.manager.send("TE");
    message = "over the limit of 1024 bytes (--max-payload)";
  }
  SECTION("invalid UTF-8") {
    run.manager.send_bytes("\x81\x02\xff\xfe");
    CHECK(run.manager.receive_all().empty());
    message = "breaks the WebSocket protocol";
  }
  CHECK(run.daemon->wait() == 3);
  CHECK(run.logged(message));
}

// ER, and then a connection that lives until the manager ends: NNI 2.10 dies of any other end.
void check_refused(ManagerSocket& manager, DaemonProcess& daemon, const std::string& text,
                   int code) {
  const auto frame = manager.receive();
  REQUIRE(frame);
  CHECK(frame->code == "ER");
  CHECK_THAT(frame->payload, Catch::Contains(text));
  CHECK(manager.ping() == 0);
  manager.send("TE");
  CHECK(daemon.wait() == code);
}

TEST_CASE("the manager learns of a failure without a capability") {
  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  ManagerSocket manager(dialect);
  manager.listen();
  DaemonProcess daemon = start(manager);
  manager.accept();
  manager.send("IN", R"({"lr":{"_type":"uniform","_value":[1,0]}})");
  check_refused(manager, daemon, "search_space.lr._value: high must exceed low", 2);
}

TEST_CASE("the manager learns of a configuration that cannot be used") {
  struct Row {
    json experiment;
    std::string text;
  };
  const auto row = GENERATE(values<Row>({
      {{{"tuner", {{"name", "TPEE"}}}}, "unknown tuner \"TPEE\"; did you mean \"TPE\"?"},
      {{{"tuner", {{"name", "NetworkMorphism"}}}}, "the nearest is \"RegularizedEvolution\""},
      {{{"tuner", {{"name", "TPE"}}}, {"assessor", {{"name", "Nope"}}}}, "unknown assessor"},
      {{{"tuner", {{"name", "TPE"}, {"classArgs", {{"sed", 1}}}}}}, "unknown argument \"sed\""},
      {{{"tuner", {{"className", "my.Tuner"}, {"codeDirectory", "/none"}}}}, "no folder /none"},
      {json::array(), "experiment parameters: an object expected"},
  }));
  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  CAPTURE(row.text);
  ManagerSocket manager(dialect);
  manager.listen();
  DaemonProcess daemon = start(manager, {"--exp_params", base64_encode(dump_json(row.experiment))});
  manager.accept();
  manager.send("IN", kSpace);
  check_refused(manager, daemon, row.text, 2);
}

TEST_CASE("the manager learns of a signal, and is not left before it ends") {
  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  const int signal = GENERATE(SIGTERM, SIGINT);
  Running run(dialect);
  run.daemon->signal(signal);
  SECTION("it ends") {
    check_refused(run.manager, *run.daemon, "ended by signal " + std::to_string(signal), 0);
  }
  SECTION("a second signal is in a hurry") {
    REQUIRE(run.manager.receive());
    run.daemon->signal(signal);
    CHECK(run.daemon->wait() == 128 + signal);
  }
}

TEST_CASE("a channel that cannot be opened ends it with 2 and one clear line") {
  ManagerSocket manager(Dialect::v2);
  manager.listen();
  auto arguments = tuner();
  std::string message;
  SECTION("a path that is no WebSocket") {
    DaemonProcess daemon = start(manager);
    manager.answer_http(404);
    CHECK(daemon.wait() == 2);
    CHECK(daemon.diagnostics().find("the server answered HTTP 404") != std::string::npos);
    return;
  }
  SECTION("TLS") {
    arguments.insert(arguments.end(), {"--channel", "wss://localhost:1/tuner"});
    message = "TLS is not spoken";
  }
  SECTION("no URL") {
    arguments.insert(arguments.end(), {"--channel", "localhost:1"});
    message = "not a WebSocket";
  }
  DaemonProcess daemon(arguments);
  CHECK(daemon.wait() == 2);
  CHECK(daemon.diagnostics().find(message) != std::string::npos);
}

TEST_CASE("a manager that listens late is waited for") {
  ManagerSocket manager(Dialect::v3);
  DaemonProcess daemon = start(manager);
  manager.listen();
  manager.accept();
  manager.send("IN", kSpace);
  CHECK(outlines(manager.sync()) == "ID");
  manager.send("TE");
  CHECK(daemon.wait() == 0);
}

}  // namespace attune::websocket_test
