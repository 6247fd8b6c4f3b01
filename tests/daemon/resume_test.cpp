// The real daemon is killed and started again with what it had saved.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/atomic_file.h"
#include "base/saved_numbers.h"
#include "daemon/checkpoint.h"
#include "tests/support/daemon_process.h"
#include "tests/support/file_event.h"
#include "tests/support/transcript_text.h"

namespace attune {
namespace {

const std::string kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

// A directory for checkpoints that both daemons use.
struct Experiment {
  Experiment() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attune-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    directory = pattern;
  }
  ~Experiment() { std::filesystem::remove_all(directory); }
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  DaemonProcess start(const std::string& mode,
                      json tuner = {{"name", "TPE"}, {"classArgs", {{"seed", 3}}}}) const {
    json experiment = {{"tuner", std::move(tuner)}, {"assessor", {{"name", "Medianstop"}}}};
    return DaemonProcess(DaemonProcess::exp_params(experiment),
                         {{"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", directory}});
  }
  std::string file() const { return directory + "/attuned.checkpoint"; }

  std::string directory;
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

TEST_CASE("resume after Terminate or end of input: the answers go on as if nothing had happened") {
  const Experiment experiment;
  DaemonProcess before = experiment.start("start");
  before.send("IN", kSpace);
  before.sync();
  run_trials(before, 0, 40);
  SECTION("Terminate") { before.send("TE"); }
  SECTION("end of input") { before.close_in(); }
  SECTION("SIGTERM") { before.signal(SIGTERM); }
  REQUIRE(before.wait() == 0);

  DaemonProcess one = experiment.start("resume");
  one.send("IN", kSpace);
  one.send("FD", "[]");
  CHECK(outlines(one.sync()) == "ID");
  const std::string answer = next_trial(one);
  CHECK(answer == uninterrupted());
  one.signal(SIGKILL);
  one.wait();
  // What a crash may have let slip is not proposed a second time.
  DaemonProcess two = experiment.start("resume");
  two.send("IN", kSpace);
  two.sync();
  const std::string other = next_trial(two);
  CHECK_FALSE(other.empty());
  CHECK(parse_json(other)->at("parameters") != parse_json(answer)->at("parameters"));
}

TEST_CASE("resume: what came with Terminate is in the state, but requests") {
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

  const json state = decode_checkpoint(read_file(experiment.file()).value()).value();
  CHECK(state["clean"] == true);
  DaemonProcess after = experiment.start("resume");
  after.send("IN", kSpace);
  after.send("FD", R"([{"parameter":{"x":0.5},"value":"4","trialJobId":"other"}])");
  after.send("GE", "1");
  after.sync();
  CHECK_THAT(after.log(), Catch::Contains("1 results of jobs that were imported before"));
  CHECK_THAT(after.log(),
             Catch::Contains("1 trials did not survive"));  // the second, not the first
  CHECK(numbers_at(state["tuner"]["session"]["history"], "losses") == std::vector<double>{0.5, 4});
}

TEST_CASE("resume: a manager that does not read costs no state") {
  const Experiment experiment;
  auto arguments = DaemonProcess::exp_params({{"tuner", {{"name", "Random"}}}});
  arguments.insert(arguments.end(),
                   {"--max-queue", "4096", "--checkpoint-dir", experiment.directory});
  DaemonProcess daemon(arguments);
  daemon.send("IN", kSpace);
  daemon.sync();
  daemon.send("GE", "20000");
  daemon.signal(SIGTERM);
  CHECK(daemon.wait() == 0);
  const json state = decode_checkpoint(read_file(experiment.file()).value()).value();
  CHECK(state["clean"] == true);
}

TEST_CASE("a first signal after the end has begun hurries it, and loses no state") {
  const Experiment experiment;
  DaemonProcess daemon = experiment.start("start");
  daemon.send("IN", kSpace);
  daemon.sync();
  run_trials(daemon, 0, 3);
  daemon.close_in();
  daemon.signal(SIGTERM);
  CHECK(daemon.wait() == 0);
  CHECK(decode_checkpoint(read_file(experiment.file()).value()));
}

TEST_CASE("resume after kill -9: at most the last second is missing, and comes back by import") {
  const Experiment experiment;
  FileEvent written(experiment.directory, "attuned.checkpoint");
  DaemonProcess before = experiment.start("start");
  before.send("IN", kSpace);
  before.sync();
  run_trials(before, 0, 30);
  before.send("GE", "1");
  before.sync();
  json state;
  do {  // until all of that is in the file
    written.wait();
    state = decode_checkpoint(read_file(experiment.file()).value()).value();
  } while (state["jobs"]["next"] != 31);
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

TEST_CASE("resume without a usable checkpoint: a warning with the cause, then imports") {
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
    cause = "No such file";
  }
  SECTION("not one of ours") {
    write("hello\n");
    cause = "it is not a checkpoint";
  }
  SECTION("torn") {
    write(good.substr(0, good.size() / 2));
    cause = "damaged";
  }
  SECTION("a flipped byte") {
    std::string flipped = good;
    flipped[flipped.size() / 2] ^= 1;
    write(flipped);
    cause = "damaged";
  }
  SECTION("of a later version") {
    write("attuned checkpoint 2 00000000 0\n");
    cause = "format 2";
  }
  SECTION("of another tuner") {
    tuner = {{"name", "Random"}};
    cause = "another tuner";
  }
  DaemonProcess after = experiment.start("resume", tuner);
  after.send("IN", kSpace);
  after.send("FD", R"([{"parameter":{"x":0.5},"value":"4","trialJobId":"T1"}])");
  after.send("GE", "1");
  CHECK(outlines(after.sync()) == "ID, TR 0");
  CHECK_THAT(after.log(), Catch::Contains("no checkpoint is used") && Catch::Contains(cause));
  CHECK_THAT(after.log(), Catch::Contains("imported 1 of 1 results"));
  // It is kept: perhaps only an argument was wrong.
  CHECK(std::filesystem::exists(experiment.file() + ".refused") == (cause != "No such file"));
}

TEST_CASE("a checkpoint that cannot be written is an error in the log, and no reason to stop") {
  const Experiment experiment;
  // A file where the directory should be.
  const std::string blocked = experiment.directory + "/file";
  std::ofstream(blocked) << "x";
  DaemonProcess daemon(DaemonProcess::exp_params({{"tuner", {{"name", "Random"}}}}),
                       {{"NNI_CHECKPOINT_DIRECTORY", blocked}});
  daemon.send("IN", kSpace);
  daemon.sync();
  run_trials(daemon, 0, 2);
  daemon.send("TE");
  CHECK(daemon.wait() == 0);
  CHECK_THAT(daemon.log(), Catch::Contains("checkpoint not written") &&
                               Catch::Contains(blocked + "/attuned.checkpoint.tmp"));
}

}  // namespace
}  // namespace attune
