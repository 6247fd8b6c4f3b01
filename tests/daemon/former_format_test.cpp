// Journals of earlier attuneds are gone on with, exactly: tests/data/journals.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "daemon/journal_reading.h"
#include "os/atomic_file.h"
#include "tests/daemon/resume_helpers.h"

namespace attune::former_format_test {

const std::string kTwo =
    R"({"x":{"_type":"uniform","_value":[0,1]},"y":{"_type":"uniform","_value":[0,1]}})";

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

json header_of(const std::string& path) {
  const std::string bytes = read_file(path).value();
  const auto reading = read_journal(bytes);
  CHECK(reading.damage.empty());
  return parse_json(reading.records.at(0).item.payload).value();
}

struct Former {
  explicit Former(const std::string& name)
      : from(std::string(ATTUNE_TEST_DATA) + "/journals/format-1/" + name) {
    std::filesystem::copy_file(from + "/attuned.journal", journal());
  }
  DaemonProcess go_on(std::size_t received, std::vector<std::string> more = {}) const {
    auto arguments =
        DaemonProcess::exp_params({{"tuner", {{"name", "Random"}, {"classArgs", {{"seed", 3}}}}},
                                   {"constraints", {"x + y <= 1"}},
                                   {"resume", {{"received", received}}}});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return DaemonProcess(
        arguments, {{"NNI_MODE", "resume"}, {"NNI_CHECKPOINT_DIRECTORY", folder.path.string()}});
  }
  std::string journal() const { return (folder.path / "attuned.journal").string(); }

  std::string from;
  TemporaryFolder folder;
};

// Asks for 300 trials under a constraint, which the present pieces would answer in another order,
// and for what the former attuned answered.
TEST_CASE("format 1: the answers are those of the attuned that wrote it, and format 2 follows") {
  const auto [name, received] =
      GENERATE(table<std::string, std::size_t>({{"plain", 31}, {"snapshot", 32}}));
  CAPTURE(name);
  const Former former(name);
  CHECK(header_of(former.journal())["format"] == 1);
  const auto expected = lines_of(former.from + "/answers.txt");
  REQUIRE(expected.size() == 300);
  {
    DaemonProcess daemon = former.go_on(received);
    daemon.send("IN", kTwo);
    CHECK(daemon.receive()->code == "ID");
    daemon.send("GE", "300");
    for (std::size_t i = 0; i < 100; ++i) {
      const Frame frame = daemon.receive().value();
      REQUIRE(frame.code + " " + frame.payload == expected[i]);
    }
    daemon.signal(SIGKILL);
    daemon.wait();
  }
  DaemonProcess daemon = former.go_on(received + 100, {"--snapshot-bytes", "1"});
  daemon.send("IN", kTwo);
  CHECK(daemon.receive()->code == "ID");
  for (std::size_t i = 100; i < 300; ++i) {
    const Frame frame = daemon.receive().value();
    REQUIRE(frame.code + " " + frame.payload == expected[i]);
  }
  daemon.sync();
  while (header_of(former.journal())["format"] != 2)
    daemon.sync();  // until the snapshot is written
  CHECK(header_of(former.journal())["ask_at_once"] == 256);
}

// An ASHA whose trials pause. All answers are sent to a manager that has received none.
DaemonProcess pausing(const TemporaryFolder& folder, const std::string& mode, int max_t = 9) {
  json experiment = {
      {"tuner",
       {{"name", "ASHA"}, {"classArgs", {{"seed", 3}, {"max_t", max_t}, {"reduction_factor", 3}}}}},
      {"capabilities", {"pause", "checkpoint", "reason"}}};
  if (mode == "resume") experiment["resume"] = {{"received", 0}};
  return DaemonProcess(DaemonProcess::exp_params(experiment),
                       {{"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", folder.path.string()}});
}

void hear(DaemonProcess& daemon, std::vector<std::string>& all) {
  for (const Frame& frame : daemon.sync()) all.push_back(frame.code + " " + frame.payload);
}

// The first seven answers but PO of a daemon that goes on with `folder`.
std::vector<std::string> said_again(const TemporaryFolder& folder) {
  DaemonProcess daemon = pausing(folder, "resume");
  daemon.send("IN", kSpace);
  CHECK(daemon.receive()->code == "ID");
  std::vector<std::string> all;
  while (all.size() < 7) {
    const Frame frame = daemon.receive().value();
    if (frame.code != "PO") all.push_back(frame.code + " " + frame.payload);
  }
  return all;
}

// The conversation of tests/data/journals/without-reasons: three trials pause, and one goes on.
std::vector<std::string> run_paused_trials(const TemporaryFolder& folder) {
  DaemonProcess daemon = pausing(folder, "start");
  daemon.send("IN", kSpace);
  daemon.receive();
  daemon.send("GE", "3");
  std::vector<std::string> all;
  hear(daemon, all);
  for (int i = 0; i < 3; ++i) {
    daemon.send("ME", dump_json({{"parameter_id", i},
                                 {"trial_job_id", "T" + std::to_string(i)},
                                 {"type", "PERIODICAL"},
                                 {"sequence", 0},
                                 {"value", std::to_string(i)}}));
    hear(daemon, all);
    json paused = parse_json(end(i)).value();
    paused["event"] = "PAUSED";
    paused["checkpoint"] = "T" + std::to_string(i) + "-1";
    daemon.send("EN", dump_json(paused));
  }
  daemon.send("GE", "1");
  hear(daemon, all);
  daemon.signal(SIGKILL);
  daemon.wait();
  return all;
}

TEST_CASE("resume: why a trial goes on is said again byte for byte") {
  const TemporaryFolder folder;
  const auto before = run_paused_trials(folder);
  REQUIRE(before.size() == 7);
  CHECK(before.back().ends_with(
      R"("resume_trial_job_id":"T0","reason":"rung 1: 0 ranks 1 of 3, the best that waits: goes on to 3"})"));
  CHECK(said_again(folder) == before);
}

TEST_CASE("resume: an experiment that began without the reasons of trials goes on without them") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(
      std::string(ATTUNE_TEST_DATA) + "/journals/without-reasons/attuned.journal",
      folder.path / "attuned.journal");
  CHECK(said_again(folder).back().ends_with(R"("resume_trial_job_id":"T0"})"));
}

// A report completes a trial, and its result stands behind the PING.
TEST_CASE("resume: an experiment whose PO did not wait for what follows goes on so") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(std::string(ATTUNE_TEST_DATA) + "/journals/pong-first/attuned.journal",
                             folder.path / "attuned.journal");
  DaemonProcess daemon = pausing(folder, "resume", /*max_t=*/1);
  daemon.send("IN", kSpace);
  REQUIRE(daemon.receive() == Frame{"ID", R"({"through":5})"});
  std::string codes;
  for (int i = 0; i < 5; ++i) codes += daemon.receive().value().code + " ";
  CHECK(codes == "TR PO KI PO PO ");
}

}  // namespace attune::former_format_test
