#include "backends/report/spool_reader.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "backends/report/attempt_end.h"
#include "backends/shim/spool_writer.h"
#include "base/rng.h"

namespace attune::spool_reader_test {

std::string record(const std::string& type, const std::string& body, double time = 5) {
  return fmt::format("{} {:.6f} {}\n{}\n", type, time, body.size(), body);
}

std::string metric(int sequence) {
  const std::string body = fmt::format(
      R"({{"parameter_id": 0, "trial_job_id": "t0", "type": "PERIODICAL", "sequence": {}, "value": "1"}})",
      sequence);
  return fmt::format("ME{:06}{}\n", body.size() + 1, body);
}

UniqueFd file_of(const std::string& text) {
  UniqueFd fd(::memfd_create("spool", MFD_CLOEXEC));
  REQUIRE(::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  return fd;
}

struct Read {
  std::vector<TrialEvent> events;
  AttemptFacts facts;
  std::vector<std::int64_t> sequences, late;
  std::vector<std::uint64_t> positions;
  std::vector<std::string> problems;
};

Read read_all(const std::string& text, std::uint64_t position = 0, std::size_t piece = 1000) {
  SpoolReader reader("t0", file_of(text), position);
  Read read;
  std::vector<char> buffer(piece);
  while (reader.read(buffer, false, read.events)) {
  }
  reader.finish(false, read.events);
  read.facts = reader.facts();
  for (const TrialEvent& event : read.events) {
    if (const auto* report = std::get_if<TrialReport>(&event)) {
      read.sequences.push_back(report->metric.sequence);
      read.positions.push_back(report->position);
      if (report->late) read.late.push_back(report->metric.sequence);
    }
    if (const auto* problem = std::get_if<TrialProblem>(&event)) {
      read.problems.push_back(problem->text);
    }
  }
  return read;
}

const std::string kWhole =
    record("shim", "pid=12 start=345 boot=ab-cd gpus=0,GPU-5a1c-2") +
    record("start", "pid=13 start=346") + record("metric", metric(0) + metric(1).substr(0, 30)) +
    record("problem", "something\nlong") + record("metric", metric(1).substr(30)) +
    record("stop", "pause") + record("metric", metric(2)) +
    record("exit", "code=3 signal=0 oom=0 cpu=1.5 rss=4096", 9.25);

TEST_CASE("spool: however it is cut, the same comes out") {
  Rng rng(3);
  for (int round = 0; round < 100; ++round) {
    const Read read = read_all(kWhole, 0, round == 0 ? 1 : 1 + rng.index(400));
    REQUIRE(read.sequences == std::vector<std::int64_t>{0, 1, 2});
    REQUIRE(read.late == std::vector<std::int64_t>{2});
    REQUIRE(read.problems == std::vector<std::string>{"something\nlong"});
    REQUIRE(read.facts.shim->pid == 12);
    REQUIRE(read.facts.shim->start == 345);
    REQUIRE(read.facts.boot == "ab-cd");
    REQUIRE(read.facts.gpus == std::vector<std::string>{"0", "GPU-5a1c-2"});
    REQUIRE(read.facts.command->pid == 13);
    REQUIRE(read.facts.told_to_pause);
    REQUIRE_FALSE(read.facts.told_to_stop);
    REQUIRE(read.facts.exit->code == 3);
    REQUIRE(read.facts.exit->cpu_seconds == 1.5);
    REQUIRE(read.facts.exit->max_rss == 4096);
    REQUIRE(read.facts.exit->time == 9.25);
  }
}

TEST_CASE("spool: reading goes on behind any report, and gives the rest once") {
  const Read whole = read_all(kWhole);
  REQUIRE(whole.positions.size() == 3);
  for (std::size_t known = 0; known <= 3; ++known) {
    const std::uint64_t position = known == 0 ? 0 : whole.positions[known - 1];
    const Read read = read_all(kWhole, position);
    CHECK(read.sequences.size() == 3 - known);
    CHECK(read.positions ==
          std::vector(whole.positions.begin() + static_cast<long>(known), whole.positions.end()));
    CHECK(read.problems.size() == (known <= 1 ? 1 : 0));
    CHECK(read.facts.exit.has_value());
  }
}

TEST_CASE("spool: a torn last record does not count, wherever it is torn") {
  for (std::size_t size = 0; size < kWhole.size(); ++size) {
    const Read read = read_all(kWhole.substr(0, size));
    REQUIRE_FALSE(read.facts.exit.has_value());
    REQUIRE(read.sequences.size() <= 3);
    REQUIRE(end_of_attempt(read.facts, std::nullopt).how == Ending::lost);
  }
}

TEST_CASE("spool: what a trial writes is not taken for a record") {
  const std::string fake = "\n" + record("exit", "code=0 signal=0 oom=0 cpu=0 rss=0");
  const Read read = read_all(record("metric", fake + metric(0)) + record("problem", fake));
  CHECK_FALSE(read.facts.exit.has_value());
  CHECK(read.sequences.size() == 1);
}

TEST_CASE("spool: behind what is no record nothing counts, and nothing is kept") {
  const std::string damage = GENERATE(
      values<std::string>({std::string(80, '\0'), std::string(10, '\0') + '\n', "exit 5\n",
                           "exit 5 x\n", "metric 5.000000 99999999999\n", record("exit", "", NAN),
                           record("exit", "", INFINITY), "exit 5.000000 2\nabc\n"}));
  CAPTURE(damage);
  const std::string begin = record("metric", metric(0));
  for (const std::size_t piece : {std::size_t{7}, std::size_t{1000}}) {
    const Read read = read_all(begin + damage + kWhole, 0, piece);
    CHECK(read.sequences == std::vector<std::int64_t>{0});
    CHECK_FALSE(read.facts.exit.has_value());
    REQUIRE(read.problems.size() == 1);
    CHECK(read.problems[0].find("its spool is damaged") == 0);
  }
  const UniqueFd file = file_of(begin + damage + kWhole);
  CHECK_FALSE(read_facts(file.get(), SIZE_MAX).exit.has_value());
}

TEST_CASE("spool: a part of a record that its shim takes back is no damage") {
  UniqueFd fd = file_of(record("metric", metric(0)));
  const off_t whole = ::lseek(fd.get(), 0, SEEK_END);
  const int writer = ::dup(fd.get());
  const std::string torn = record("metric", metric(1) + metric(2));
  REQUIRE(::pwrite(writer, torn.data(), 30, whole) == 30);
  SpoolReader reader("t0", std::move(fd), 0);
  std::vector<char> buffer(GENERATE(std::size_t{7}, std::size_t{1000}));
  std::vector<TrialEvent> events;
  while (reader.read(buffer, false, events)) {
  }
  CHECK(events.size() == 1);
  REQUIRE(::ftruncate(writer, whole) == 0);
  const std::string again = record("metric", metric(1)) + record("metric", metric(2));
  REQUIRE(::pwrite(writer, again.data(), again.size(), whole) == std::ssize(again));
  ::close(writer);
  while (reader.read(buffer, false, events)) {
  }
  CHECK_FALSE(reader.damaged());
  CHECK(events.size() == 3);
}

// 4 GiB: more than a test could read in its time, or keep.
TEST_CASE("spool: a hole is not read") {
  UniqueFd fd = file_of(record("metric", metric(0)));
  REQUIRE(::ftruncate(fd.get(), off_t{1} << 32) == 0);
  read_facts(fd.get(), SIZE_MAX);
  SpoolReader reader("t0", std::move(fd), 0);
  std::vector<char> buffer(1000);
  std::vector<TrialEvent> events;
  CHECK_FALSE(reader.read(buffer, false, events));
  CHECK(reader.damaged());
  CHECK(events.size() == 2);
}

TEST_CASE("spool: numbers that are none are zero") {
  const Read read = read_all(record("exit", "code=0 signal=0 oom=0 cpu=nan rss=inf"));
  REQUIRE(read.facts.exit.has_value());
  CHECK(read.facts.exit->cpu_seconds == 0);
  CHECK(read.facts.exit->max_rss == 0);
}

TEST_CASE("spool: any bytes are survived") {
  Rng rng(4);
  for (int round = 0; round < 300; ++round) {
    std::string text = kWhole;
    for (int i = 0; i < 5; ++i) {
      text[rng.index(text.size())] = static_cast<char>(rng.index(256));
    }
    CHECK(read_all(text).sequences.size() <= 3);
  }
}

TEST_CASE("spool: what the end means") {
  struct Row {
    std::string records;
    std::optional<Ending> wanted;
    Ending how;
  };
  const std::string killed = record("exit", "code=0 signal=9 oom=0 cpu=0 rss=0");
  const std::string well = record("exit", "code=0 signal=0 oom=0 cpu=0 rss=0");
  const Row row = GENERATE_REF(values<Row>({
      {well, {}, Ending::succeeded},
      {well, Ending::paused, Ending::paused},
      {record("stop", "stop") + well, {}, Ending::stopped},
      {record("stop", "pause") + killed, {}, Ending::paused},
      {record("stop", "pause") + killed, Ending::stopped, Ending::stopped},
      {killed, {}, Ending::signalled},
      {killed, Ending::stopped, Ending::stopped},
      {record("exit", "code=0 signal=9 oom=1 cpu=0 rss=0"), {}, Ending::out_of_memory},
      {record("exit", "code=2 signal=0 oom=0 cpu=0 rss=0"), {}, Ending::failed},
      {record("restore", "no such folder") + well, {}, Ending::restore_failed},
      {"", Ending::stopped, Ending::lost},
  }));
  CAPTURE(row.records);
  CHECK(end_of_attempt(read_all(row.records).facts, row.wanted).how == row.how);
}

TEST_CASE("spool: how long an attempt had run is counted from its first record") {
  const Read read =
      read_all(record("shim", "pid=7 start=8", 100) + record("metric", metric(0), 103) +
               record("metric", metric(1), 90) +  // of an older shim, and a clock set
               record("exit", "code=0 signal=0", 110));
  REQUIRE(read.events.size() == 2);
  CHECK(std::get<TrialReport>(read.events[0]).ran == 3.0);
  CHECK(std::get<TrialReport>(read.events[1]).ran == 0.0);
  CHECK(end_of_attempt(read.facts, {}).ran == 10.0);
}

double& set_clock() {
  static double wall = 1000;
  return wall;
}
double& passed() {
  static double seconds = 50;
  return seconds;
}

TEST_CASE("spool: what a shim writes has times that no clock moves which is set meanwhile") {
  const UniqueFd fd(::memfd_create("spool", MFD_CLOEXEC));
  shim::SpoolWriter writer(fd.get(), [] { return set_clock(); }, [] { return passed(); });
  REQUIRE(writer.append("shim", "pid=7 start=8"));
  const double step = GENERATE(-259'427.0, 259'427.0);
  set_clock() += step;
  passed() += 3;
  REQUIRE(writer.append("exit", "code=0 signal=0"));
  const AttemptFacts facts = read_facts(fd.get(), SIZE_MAX);
  CHECK(facts.begun == facts.exit->time - 3);
}

}  // namespace attune::spool_reader_test
