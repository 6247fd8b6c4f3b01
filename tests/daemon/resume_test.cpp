// The real daemon is ended or killed, and another one goes on where its journal ends.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/atomic_file.h"
#include "dispatcher/journal_codec.h"
#include "tests/support/daemon_process.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/transcript_text.h"

namespace attune {
namespace {

const std::string kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

// A directory for the journal that both daemons use.
struct Experiment {
  DaemonProcess start(const std::string& mode,
                      json tuner = {{"name", "TPE"}, {"classArgs", {{"seed", 3}}}},
                      const json& shared = {}) const {
    json experiment = {{"tuner", std::move(tuner)}, {"assessor", {{"name", "Medianstop"}}}};
    if (!shared.is_null()) experiment["resume"] = shared;
    return DaemonProcess(DaemonProcess::exp_params(experiment),
                         {{"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", folder.path.string()}});
  }
  DaemonProcess go_on(int received) const {
    return start("resume", {{"name", "TPE"}, {"classArgs", {{"seed", 3}}}},
                 {{"received", received}});
  }
  std::string file() const { return (folder.path / "attuned.journal").string(); }

  TemporaryFolder folder;
};

std::string metric(int id, const std::string& value) {
  return dump_json({{"parameter_id", id},
                    {"trial_job_id", "T" + std::to_string(id)},
                    {"type", "FINAL"},
                    {"sequence", 0},
                    {"value", value}});
}

std::string end(int id) {
  return dump_json({{"trial_job_id", "T" + std::to_string(id)},
                    {"event", "SUCCEEDED"},
                    {"hyper_params", dump_json({{"parameter_id", id}})}});
}

// `count` trials, one after the other, each with a result.
void run_trials(DaemonProcess& daemon, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    daemon.send("GE", "1");
    daemon.send("ME", metric(i, std::to_string(i * 7 % 11)));
    daemon.send("EN", end(i));
  }
  REQUIRE(daemon.sync().size() == std::size_t(count));
}

std::string next_trial(DaemonProcess& daemon) {
  daemon.send("GE", "1");
  const auto frames = daemon.sync();
  return frames.size() == 1 ? frames[0].payload : "";
}

// The 41st trial of a daemon that nothing happens to.
std::string uninterrupted() {
  const Experiment experiment;
  DaemonProcess daemon = experiment.start("start");
  daemon.send("IN", kSpace);
  daemon.sync();
  run_trials(daemon, 0, 40);
  return next_trial(daemon);
}

TEST_CASE("resume under a manager that starts anew: the answers go on as if nothing had happened") {
  const Experiment experiment;
  DaemonProcess before = experiment.start("start");
  before.send("IN", kSpace);
  before.sync();
  run_trials(before, 0, 40);
  SECTION("Terminate") {
    before.send("TE");
    CHECK(before.wait() == 0);
  }
  SECTION("end of input") {
    before.close_in();
    CHECK(before.wait() == 0);
  }
  SECTION("SIGTERM") {
    before.signal(SIGTERM);
    CHECK(before.wait() == 0);
  }
  SECTION("SIGKILL") {
    before.signal(SIGKILL);
    CHECK(before.wait() == 128 + SIGKILL);
  }
  DaemonProcess one = experiment.start("resume");
  one.send("IN", kSpace);
  one.send("FD", "[]");
  CHECK(outlines(one.sync()) == "ID");
  const std::string answer = next_trial(one);
  CHECK(answer == uninterrupted());
  one.signal(SIGKILL);
  one.wait();
  // What has left is not proposed a second time.
  DaemonProcess two = experiment.start("resume");
  two.send("IN", kSpace);
  two.sync();
  const std::string other = next_trial(two);
  CHECK_FALSE(other.empty());
  CHECK(parse_json(other)->at("parameters") != parse_json(answer)->at("parameters"));
}

TEST_CASE("resume: what came with Terminate is known, and what had not left goes first") {
  const Experiment experiment;
  DaemonProcess before = experiment.start("start");
  before.send("IN", kSpace);
  before.send("GE", "2");
  before.sync();
  std::string bytes;
  for (const Frame& frame :
       {Frame{"ME", metric(0, "0.5")}, Frame{"EN", end(0)}, Frame{"GE", "1"},
        Frame{"FD", R"([{"parameter":{"x":0.5},"value":"4","trialJobId":"other"}])"},
        Frame{"TE", ""}}) {
    REQUIRE(encode_frame(frame, {}, bytes));
  }
  before.write(bytes);
  REQUIRE(before.wait() == 0);
  const bool had_left = before.receive_all().size() == 1;

  DaemonProcess after = experiment.start("resume");
  after.send("IN", kSpace);
  after.send("FD", R"([{"parameter":{"x":0.5},"value":"4","trialJobId":"other"}])");
  after.send("GE", "2");
  CHECK(outlines(after.sync()) == (had_left ? "ID, TR 3, TR 4" : "ID, TR 2, TR 4"));
  CHECK_THAT(after.log(), Catch::Contains("1 results of jobs that were imported before"));
  // The second one, and the third if the manager was told of it.
  CHECK_THAT(after.log(), Catch::Contains(had_left ? "2 trials did not" : "1 trials did not"));
}

TEST_CASE("resume: a manager that does not read costs nothing that it said") {
  const Experiment experiment;
  auto arguments = DaemonProcess::exp_params({{"tuner", {{"name", "Random"}}}});
  arguments.insert(arguments.end(),
                   {"--max-queue", "4096", "--checkpoint-dir", experiment.folder.path.string()});
  {
    DaemonProcess daemon(arguments);
    daemon.send("IN", kSpace);
    daemon.sync();
    daemon.send("GE", "20000");
    daemon.signal(SIGTERM);
    CHECK(daemon.wait() == 0);
  }
  arguments.emplace_back("--resume");
  DaemonProcess after(arguments);
  after.send("IN", kSpace);
  CHECK(outlines(after.sync()) == "ID");
  CHECK_THAT(after.log(), Catch::Contains("resumed from " + experiment.file()));
}

TEST_CASE("resume after kill -9: results that FD brings are recognised") {
  const Experiment experiment;
  DaemonProcess before = experiment.start("start");
  before.send("IN", kSpace);
  before.sync();
  run_trials(before, 0, 30);
  before.send("GE", "1");
  before.sync();
  before.signal(SIGKILL);
  CHECK(before.wait() == 128 + SIGKILL);

  DaemonProcess after = experiment.start("resume");
  after.send("IN", kSpace);
  after.send("FD", R"([{"parameter":{"x":0.5},"value":"4","trialJobId":"T4"},
                       {"parameter":{"x":0.5},"value":"0.1","trialJobId":"new"}])");
  CHECK(outlines(after.sync()) == "ID");
  after.send("GE", "1");
  CHECK(outlines(after.sync()) == "TR 31");
  CHECK_THAT(after.log(), Catch::Contains("resumed from " + experiment.file()));
  CHECK_THAT(after.log(), Catch::Contains("imported 1 of 2 results; 1 were known"));
  CHECK_THAT(after.log(), Catch::Contains("1 trials did not survive the restart"));
}

TEST_CASE("exactly: the manager hears again what it has not received") {
  const Experiment experiment;
  std::vector<Frame> said;
  {
    DaemonProcess before = experiment.start("start");
    before.send("IN", kSpace);
    before.send("GE", "3");
    said = before.sync();  // ID, three TR, and the PO that sync() takes
    before.signal(SIGKILL);
    before.wait();
  }
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
  {
    DaemonProcess before = experiment.start("start");
    before.send("IN", kSpace);
    before.send("GE", "3");
    before.sync();
    before.signal(SIGKILL);
    before.wait();
  }
  DaemonProcess after = experiment.go_on(5);
  after.send("IN", kSpace);
  after.send("GE", "1");
  CHECK(outlines(after.sync()) == "ID, TR 0");
  CHECK_THAT(after.log(), Catch::Contains("the manager has received 5 answers; 4 are known"));
}

TEST_CASE("exactly: with other commands than the manager knows of it cannot be either") {
  const Experiment experiment;
  {
    DaemonProcess before = experiment.start("start");
    before.send("IN", kSpace);
    before.send("GE", "3");
    before.sync();
    before.signal(SIGKILL);
    before.wait();
  }
  const auto [acknowledged, sent, possible] = GENERATE(table<int, int, bool>(
      {{0, 2, true}, {2, 2, true}, {0, 3, true}, {3, 3, false}, {0, 1, false}}));
  CAPTURE(acknowledged, sent);
  DaemonProcess after =
      experiment.start("resume", {{"name", "TPE"}, {"classArgs", {{"seed", 3}}}},
                       {{"received", 4}, {"acknowledged", acknowledged}, {"sent", sent}});
  after.send("IN", kSpace);
  CHECK(after.receive() == Frame{"ID", possible ? R"({"through":2})" : ""});
  if (!possible) {
    CHECK_THAT(after.log(),
               Catch::Contains(
                   fmt::format("it has 2 commands, and the manager has sent {}, of which it has {} "
                               "no longer",
                               sent, acknowledged)));
  }
}

TEST_CASE("exactly: from the very beginning") {
  const Experiment experiment;
  DaemonProcess after = experiment.go_on(0);
  after.send("IN", kSpace);
  CHECK(after.sync() == std::vector{Frame{"ID", R"({"through":0})"}});
}

TEST_CASE("resume without a usable journal: a warning with the cause, then imports") {
  const Experiment experiment;
  std::string cause;
  auto write = [&](const std::string& bytes) { std::ofstream(experiment.file()) << bytes; };
  json tuner = {{"name", "TPE"}, {"classArgs", {{"seed", 3}}}};
  {
    DaemonProcess before = experiment.start("start");
    before.send("IN", kSpace);
    before.sync();
    run_trials(before, 0, 3);
    before.send("TE");
    REQUIRE(before.wait() == 0);
  }
  const std::string good = read_file(experiment.file()).value();
  SECTION("none") {
    std::filesystem::remove(experiment.file());
    cause = "does not exist";
  }
  SECTION("not one of ours") {
    write("hello\n");
    cause = "empty";
  }
  SECTION("a flipped byte") {
    std::string flipped = good;
    flipped[flipped.size() / 2] ^= 1;
    write(flipped);
    cause = "at byte";
  }
  SECTION("of a later version") {
    std::string bytes;
    encode_record(RecordKind::header, R"({"format":2,"attuned":"9.0"})", bytes);
    write(bytes);
    cause = "format 2 of attuned \"9.0\"";
  }
  SECTION("of another tuner") {
    tuner = {{"name", "Random"}};
    cause = "its tuner was";
  }
  DaemonProcess after = experiment.start("resume", tuner);
  after.send("IN", kSpace);
  after.send("FD", R"([{"parameter":{"x":0.5},"value":"4","trialJobId":"T1"}])");
  after.send("GE", "1");
  CHECK(outlines(after.sync()) == "ID, TR 0");
  CHECK_THAT(after.log(), Catch::Contains("nothing is gone on from") && Catch::Contains(cause));
  CHECK_THAT(after.log(), Catch::Contains("imported 1 of 1 results"));
  // It is kept: perhaps only an argument was wrong.
  CHECK(std::filesystem::exists(experiment.file() + ".refused") == (cause != "does not exist"));
}

TEST_CASE("resume: a torn end is cut off with a warning") {
  const Experiment experiment;
  {
    DaemonProcess before = experiment.start("start");
    before.send("IN", kSpace);
    before.sync();
    run_trials(before, 0, 3);
    before.signal(SIGKILL);
    before.wait();
  }
  std::filesystem::resize_file(experiment.file(),
                               std::filesystem::file_size(experiment.file()) - 3);
  DaemonProcess after = experiment.start("resume");
  after.send("IN", kSpace);
  CHECK(outlines(after.sync()) == "ID");
  CHECK_THAT(after.log(), Catch::Contains("were not written to their end"));
  CHECK_THAT(after.log(), Catch::Contains("resumed from"));
}

TEST_CASE("a journal that is there when an experiment begins is kept") {
  const Experiment experiment;
  for (int i = 0; i < 2; ++i) {
    DaemonProcess daemon = experiment.start("start");
    daemon.send("IN", kSpace);
    daemon.sync();
    daemon.send("TE");
    REQUIRE(daemon.wait() == 0);
  }
  CHECK(std::filesystem::exists(experiment.file() + ".previous"));
}

TEST_CASE("a journal that cannot be begun is an error that names the place") {
  const Experiment experiment;
  // A file where the directory should be.
  const std::string blocked = (experiment.folder.path / "file").string();
  std::ofstream(blocked) << "x";
  DaemonProcess daemon(DaemonProcess::exp_params({{"tuner", {{"name", "Random"}}}}),
                       {{"NNI_CHECKPOINT_DIRECTORY", blocked}});
  CHECK(daemon.wait() == 2);
  CHECK_THAT(daemon.log(), Catch::Contains(blocked));
}

TEST_CASE("a directory that is deleted while the daemon runs is made again with everything") {
  const Experiment experiment;
  DaemonProcess before = experiment.start("start");
  before.send("IN", kSpace);
  before.sync();
  run_trials(before, 0, 10);
  std::filesystem::remove_all(experiment.folder.path);
  run_trials(before, 10, 10);
  before.send("TE");
  CHECK(before.wait() == 0);
  DaemonProcess after = experiment.start("resume");
  after.send("IN", kSpace);
  CHECK(outlines(after.sync()) == "ID");
  after.send("GE", "1");
  CHECK(outlines(after.sync()) == "TR 20");
}

TEST_CASE("two daemons do not use one journal") {
  const Experiment experiment;
  DaemonProcess one = experiment.start("start");
  one.send("IN", kSpace);
  one.sync();
  DaemonProcess two = experiment.start("resume");
  CHECK(two.wait() == 2);
  CHECK_THAT(two.log(), Catch::Contains("in use by another process"));
  CHECK(next_trial(one).contains("\"parameter_id\":0"));
}

}  // namespace
}  // namespace attune
