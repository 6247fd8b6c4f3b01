// A journal of an earlier attuned (format 1) is gone on with, exactly:
// tests/data/journals/format-1.
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

}  // namespace attune::former_format_test
