// The real attuned over pipes: how it starts, how it stops, and what managers can do to it.
#include <signal.h>

#include <catch2/catch.hpp>

#include "base/base64.h"
#include "tests/support/daemon_process.h"
#include "tests/support/transcript_text.h"

namespace attune::server_test {

using std::chrono::milliseconds;

constexpr const char* kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

std::vector<std::string> random_tuner() {
  return DaemonProcess::exp_params({{"tuner", {{"name", "Random"}, {"classArgs", {{"seed", 1}}}}}});
}

void initialize(DaemonProcess& daemon) {
  daemon.send("IN", kSpace);
  REQUIRE(outlines(daemon.sync()) == "ID");
}

TEST_CASE("Terminate, end of input and SIGTERM end it with 0") {
  DaemonProcess daemon(random_tuner());
  initialize(daemon);
  daemon.send("GE", "2");
  CHECK(outlines(daemon.sync()) == "TR 0, TR 1");
  SECTION("Terminate") { daemon.send("TE"); }
  SECTION("end of input") { daemon.close_in(); }
  SECTION("SIGTERM") { daemon.signal(SIGTERM); }
  SECTION("SIGINT") { daemon.signal(SIGINT); }
  CHECK(daemon.receive_all().empty());
  CHECK(daemon.wait() == 0);
  CHECK(daemon.log().find("exiting with code 0") != std::string::npos);
  CHECK(daemon.diagnostics().empty());
}

TEST_CASE("the manager may die in any state") {
  DaemonProcess daemon(random_tuner());
  SECTION("before it said anything") {}
  SECTION("before it read the answer") {
    daemon.send("IN", kSpace);
    daemon.close_out();
  }
  SECTION("inside a frame") {
    initialize(daemon);
    daemon.write("GE0000");
    daemon.close_in();
    CHECK(daemon.wait() == 3);
    CHECK(daemon.log().find("ended inside a frame at byte") != std::string::npos);
    return;
  }
  SECTION("with answers on their way") {
    initialize(daemon);
    daemon.send("GE", "100000");
    daemon.close_out();
  }
  SECTION("reading end first, then commands") {
    initialize(daemon);
    daemon.close_out();
    daemon.send("GE", "1");
    CHECK(daemon.wait() == 0);
    return;
  }
  daemon.close_in();
  CHECK(daemon.wait() == 0);
}

TEST_CASE("end of input drains what was sent before it") {
  DaemonProcess daemon(random_tuner());
  daemon.send("IN", kSpace);
  for (int i = 0; i < 300; ++i) daemon.send("GE", "1");
  daemon.close_in();
  CHECK(daemon.receive_all().size() == 301);
  CHECK(daemon.wait() == 0);
}

TEST_CASE("Terminate drops queued requests, unless told to drain") {
  const bool drain = GENERATE(false, true);
  auto arguments = random_tuner();
  if (drain) arguments.push_back("--drain");
  DaemonProcess daemon(arguments);
  initialize(daemon);
  std::string bytes;
  for (int i = 0; i < 500; ++i) REQUIRE(encode_frame({"GE", "10"}, {}, bytes));
  REQUIRE(encode_frame({"TE", ""}, {}, bytes));
  daemon.write(bytes);
  const auto frames = daemon.receive_all();
  CHECK(daemon.wait() == 0);
  if (drain) {
    CHECK(frames.size() == 5'000);
  } else {
    CHECK(frames.size() <= 5'000);
  }
}

TEST_CASE("a manager that stops reading is not read from, and loses nothing") {
  auto arguments = random_tuner();
  arguments.insert(arguments.end(), {"--max-queue", "65536"});
  DaemonProcess daemon(arguments);
  initialize(daemon);
  std::string request;
  REQUIRE(encode_frame({"GE", "20"}, {}, request));
  // Until no byte is taken for a while: back-pressure has reached the manager.
  std::string pending;
  int requests = 0;
  while (pending.empty() && requests < 100'000) {
    pending = request;
    ++requests;
    pending.erase(0, daemon.write_some(pending, milliseconds(500)));
  }
  REQUIRE(requests < 100'000);
  // Reading again sets everything in motion.
  int trials = 0;
  bool ordered = true;
  while (trials < (requests - 1) * 20) {
    const auto frame = daemon.receive();
    REQUIRE(frame);
    ordered &= outline(*frame) == "TR " + std::to_string(trials++);
  }
  CHECK(ordered);
  daemon.write(pending);
  CHECK(daemon.sync().size() == 20);
  daemon.send("TE");
  CHECK(daemon.wait() == 0);
}

TEST_CASE("a manager that stops reading can still end it") {
  DaemonProcess daemon(random_tuner());
  initialize(daemon);
  daemon.send("GE", "100000");
  SECTION("SIGTERM") { daemon.signal(SIGTERM); }
  SECTION("end of input") { daemon.close_in(); }
  CHECK(daemon.wait() == 0);
}

TEST_CASE("a stream that cannot be read ends it with 3 and one clear line") {
  DaemonProcess daemon(random_tuner());
  initialize(daemon);
  daemon.write("GE0000000000000x1");
  CHECK(daemon.receive_all().empty());
  CHECK(daemon.wait() == 3);
  CHECK(daemon.diagnostics().find("the length '0000000000000x' is not 14 digits") !=
        std::string::npos);
  CHECK(daemon.log().find("ERROR") != std::string::npos);
}

TEST_CASE("an unusable search space at Initialize ends it with 2") {
  DaemonProcess daemon(
      DaemonProcess::exp_params({{"tuner", {{"name", "Random"}}}, {"capabilities", {"error"}}}));
  daemon.send("IN", R"({"lr":{"_type":"uniform","_value":[1,0]}})");
  const auto frames = daemon.receive_all();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0] == Frame{"ER", "search_space.lr._value: high must exceed low"});
  CHECK(daemon.wait() == 2);
}

TEST_CASE("an Initialize without a search space object ends it with 2") {
  const auto payload = GENERATE("[1]", "{", "", "null", "3");
  DaemonProcess daemon(
      DaemonProcess::exp_params({{"tuner", {{"name", "Random"}}}, {"capabilities", {"error"}}}));
  daemon.send("IN", payload);
  const auto frames = daemon.receive_all();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].code == "ER");
  CHECK_THAT(frames[0].payload, Catch::Contains("Initialize"));
  CHECK(daemon.wait() == 2);
}

TEST_CASE("an unusable search space ends it with 2 also when the input has ended already") {
  DaemonProcess daemon(random_tuner());
  daemon.send("IN", R"({"lr":{"_type":"uniform","_value":[1,0]}})");
  daemon.close_in();
  CHECK(daemon.wait() == 2);
}

TEST_CASE("unusable arguments end it with 2 and name the cure") {
  struct Row {
    json experiment;
    std::string message;
  };
  const auto row = GENERATE(values<Row>({
      {{{"tuner", {{"name", "TPEE"}}}}, "did you mean \"TPE\"?"},
      {{{"tuner", {{"name", "TPE"}, {"classArgs", {{"sed", 1}}}}}}, "unknown argument \"sed\""},
      {{{"tuner", {{"name", "TPE"}, {"classArgs", {{"optimize_mode", "max"}}}}}},
       "one of maximize, minimize expected, not \"max\""},
      {{{"tuner", {{"name", "Random"}}}, {"assessor", {{"name", "Nope"}}}}, "unknown assessor"},
  }));
  CAPTURE(row.message);
  DaemonProcess daemon(DaemonProcess::exp_params(row.experiment));
  CHECK(daemon.receive_all().empty());
  CHECK(daemon.wait() == 2);
  CHECK(daemon.diagnostics().find(row.message) != std::string::npos);
  CHECK(daemon.log().find(row.message) != std::string::npos);
}

TEST_CASE("descriptors that are missing or files are refused with a cure") {
  auto arguments = random_tuner();
  SECTION("missing") {
    arguments.insert(arguments.end(), {"--in-fd", "77"});
    DaemonProcess daemon(arguments);
    CHECK(daemon.wait() == 2);
    CHECK(daemon.diagnostics().find("descriptor 77 (--in-fd) is not open") != std::string::npos);
  }
  SECTION("as from a terminal, where nobody has given any") {
    const std::string command = "unset NNI_LOG_DIRECTORY; exec \"$0\" --tuner Random 3<&- 4>&-";
    DaemonProcess daemon({"-c", command, ATTUNED}, {}, "/bin/bash");
    CHECK(daemon.wait() == 2);
    CHECK(daemon.diagnostics().find("descriptor 3 (--in-fd) is not open") != std::string::npos);
  }
  SECTION("a file") {
    arguments.insert(arguments.end(), {"--out-fd", "2"});  // stdio.txt
    DaemonProcess daemon(arguments);
    CHECK(daemon.wait() == 2);
    CHECK(daemon.diagnostics().find("must be a pipe") != std::string::npos);
  }
}

TEST_CASE("same seed and same commands, same answers") {
  auto run = [] {
    DaemonProcess daemon(
        DaemonProcess::exp_params({{"tuner", {{"name", "TPE"}, {"classArgs", {{"seed", 7}}}}}}));
    daemon.send("IN", R"({"x":{"_type":"normal","_value":[0,1]},
                          "c":{"_type":"choice","_value":["a","b"]}})");
    for (int i = 0; i < 40; ++i) {
      daemon.send("GE", "1");
      daemon.send("ME", dump_json({{"parameter_id", i},
                                   {"trial_job_id", "T" + std::to_string(i)},
                                   {"type", "FINAL"},
                                   {"value", std::to_string(i * 7 % 11)}}));
    }
    return daemon.sync();
  };
  const auto first = run();
  CHECK(first.size() == 41);
  CHECK(first == run());
}

TEST_CASE("six digits of length for NNI before 1.6") {
  auto arguments = random_tuner();
  arguments.insert(arguments.end(), {"--framing", "6"});
  DaemonProcess daemon(arguments);
  std::string bytes;
  REQUIRE(encode_frame({"IN", kSpace}, {6, 1 << 20}, bytes));
  REQUIRE(encode_frame({"TE", ""}, {6, 1 << 20}, bytes));
  daemon.write(bytes);
  CHECK(daemon.wait() == 0);
}

}  // namespace attune::server_test
