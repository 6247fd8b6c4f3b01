// The real daemon is ended or killed, and another one goes on exactly: docs/protocol.md, "Exactly
// once".
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "journal/codec.h"
#include "os/atomic_file.h"
#include "tests/daemon/resume_helpers.h"
#include "tests/support/transcript_text.h"

namespace attune::exact_resume_test {

TEST_CASE("exactly: the manager hears again what it has not received") {
  const Experiment experiment;
  const auto said = run_and_kill(experiment, 3);  // ID, three TR, and the PO that sync() takes
  REQUIRE(said.size() == 4);
  const int received = GENERATE(0, 1, 3, 4);
  DaemonProcess after = experiment.go_on(received);
  after.send("IN", "its space is not looked at");
  CHECK(after.receive() == Frame{"ID", R"({"through":2})"});
  for (int number = received; number < 4; ++number) {
    CHECK(after.receive() == (number < 3 ? said[std::size_t(number) + 1] : Frame{"PO", "sync-1"}));
  }
  after.send("GE", "1");
  CHECK(outlines({*after.receive()}) == "TR 3");
}

TEST_CASE("exactly: with more answers than the daemon knows of it cannot be, and both begin anew") {
  const Experiment experiment;
  run_and_kill(experiment, 3);
  DaemonProcess after = experiment.go_on(5);
  after.send("IN", kSpace);
  after.send("GE", "1");
  CHECK(outlines(after.sync()) == "ID, TR 0");
  CHECK_THAT(after.log(), Catch::Contains("the manager has received 5 answers; 4 are known"));
}

TEST_CASE("exactly: with other commands than the manager knows of it cannot be either") {
  const Experiment experiment;
  run_and_kill(experiment, 3);
  const auto [acknowledged, sent, possible] = GENERATE(table<int, int, bool>(
      {{0, 2, true}, {2, 2, true}, {0, 3, true}, {3, 3, false}, {0, 1, false}}));
  CAPTURE(acknowledged, sent);
  DaemonProcess after =
      experiment.start("resume", {{"name", "TPE"}, {"classArgs", {{"seed", 3}}}},
                       {{"received", 4}, {"acknowledged", acknowledged}, {"sent", sent}});
  after.send("IN", kSpace);
  const auto id = after.receive();
  CHECK((id == Frame{"ID", R"({"through":2})"}) == possible);
  if (!possible) {
    CHECK_THAT(id->payload, Catch::Contains("\"reason\"") &&
                                Catch::Contains("it is kept as " + experiment.file() + ".refused"));
    CHECK_THAT(after.log(),
               Catch::Contains(
                   fmt::format("it has 2 commands, and the manager has sent {}, of which it has {} "
                               "no longer",
                               sent, acknowledged)));
  }
}

TEST_CASE("exactly: what was queued at Terminate comes first, and in its order") {
  const Experiment experiment;
  DaemonProcess before = experiment.start("start");
  before.send("IN", kSpace);
  before.sync();
  std::string bytes;  // in one piece: the worker is woken when io has read it all
  for (const Frame& frame :
       {Frame{"GE", "1"}, Frame{"ME", metric(7, "0.5")}, Frame{"PI", "x"}, Frame{"TE", ""}}) {
    REQUIRE(encode_frame(frame, {}, bytes));
  }
  before.write(bytes);
  REQUIRE(before.wait() == 0);
  const std::size_t received = 1 + before.receive_all().size();
  DaemonProcess after = experiment.go_on(static_cast<int>(received));
  after.send("IN", kSpace);
  CHECK(after.receive() == Frame{"ID", R"({"through":5})"});
  if (received == 1) CHECK(outlines({*after.receive()}) == "TR 0");
  if (received <= 2) CHECK(after.receive() == Frame{"PO", "x"});
  after.send("GE", "1");
  CHECK(outlines({*after.receive()}) == "TR 1");
}

TEST_CASE("exactly: a journal that ends before the search space was in force is begun anew") {
  const Experiment experiment;
  run_and_kill(experiment, 0);
  const std::string whole = read_file(experiment.file()).value();
  RecordScanner records(whole);
  std::vector<std::uint64_t> begins;  // of the records
  while (const auto item = records.next().value()) begins.push_back(item->offset);
  REQUIRE(begins.size() > 5);  // header, begin, IN, tune, ID, ...
  for (std::size_t kept = 1; kept <= 4; ++kept) {
    CAPTURE(kept);
    std::ofstream(experiment.file()) << whole.substr(0, begins[kept]);
    DaemonProcess after = experiment.go_on(0);
    after.send("IN", kSpace);
    CHECK(after.receive() == Frame{"ID", R"({"through":0})"});
    after.send("GE", "1");
    CHECK(outlines({*after.receive()}) == "TR 0");
    after.signal(SIGKILL);
    after.wait();
  }
}

TEST_CASE("exactly: from the very beginning") {
  const Experiment experiment;
  DaemonProcess after = experiment.go_on(0);
  after.send("IN", kSpace);
  CHECK(after.sync() == std::vector{Frame{"ID", R"({"through":0})"}});
}

}  // namespace attune::exact_resume_test
