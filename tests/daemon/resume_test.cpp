// The real daemon is ended or killed, and another one goes on where its journal ends.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/base64.h"
#include "journal/codec.h"
#include "os/atomic_file.h"
#include "tests/daemon/resume_helpers.h"
#include "tests/support/transcript_text.h"

namespace attune::resume_test {

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
  // What has left, and of which nothing was heard, is offered again.
  DaemonProcess two = experiment.start("resume");
  two.send("IN", kSpace);
  two.sync();
  const std::string other = next_trial(two);
  REQUIRE_FALSE(other.empty());
  CHECK(parse_json(other)->at("parameters") == parse_json(answer)->at("parameters"));
  CHECK(parse_json(other)->at("parameter_id") != parse_json(answer)->at("parameter_id"));
}

TEST_CASE("resume: what came with Terminate is known, and what has no result goes first") {
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

  DaemonProcess after = experiment.start("resume");
  after.send("IN", kSpace);
  after.send("FD", R"([{"parameter":{"x":0.5},"value":"4","trialJobId":"other"}])");
  after.send("GE", "2");
  CHECK(outlines(after.sync()) == "ID, TR 3, TR 4");
  CHECK_THAT(after.log(), Catch::Contains("1 results of jobs that were imported before"));
  // The second one, and the third if the manager was told of it.
  CHECK_THAT(after.log(), Catch::Contains("1 trials did not survive the restart: they are") ||
                              Catch::Contains("2 trials did not survive the restart: they are"));
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
    cause = "no record in it is whole";
  }
  SECTION("a flipped byte") {
    std::string flipped = good;
    flipped[flipped.size() / 2] ^= 1;
    write(flipped);
    cause = "at byte";
  }
  SECTION("of a later version") {
    std::string bytes;
    encode_record(RecordKind::header, R"({"format":3,"attuned":"9.0"})", bytes);
    write(bytes);
    cause = "format 3 of attuned \"9.0\"";
  }
  SECTION("of later answers") {
    std::string bytes;
    encode_record(RecordKind::header, R"({"format":2,"revision":2})", bytes);
    write(bytes);
    cause = "its answers are of revision 2: this attuned knows 0 to 1";
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

TEST_CASE("resume after kill -9: what was assumed of stopped trials shapes what follows") {
  const auto next = [](const std::string& word, bool killed) {
    const TemporaryFolder folder;
    const auto start = [&](const std::string& mode) {
      return DaemonProcess(
          DaemonProcess::exp_params(
              {{"tuner", {{"name", "GP"}, {"classArgs", {{"seed", 3}, {"cold_start_num", 4}}}}},
               {"assessor", {{"name", "Medianstop"}, {"stoppedTrials", word}}}}),
          {{"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", folder.path.string()}});
    };
    DaemonProcess daemon = start("start");
    daemon.send("IN", kSpace);
    daemon.sync();
    for (int i = 0; i < 10; ++i) {
      const bool bad = i % 3 == 2;
      daemon.send("GE", "1");
      daemon.send("ME", intermediate(i, bad ? "0.25" : std::to_string(1 + i)));
      if (!bad) daemon.send("ME", metric(i, std::to_string(1 + i)));
      daemon.sync();  // so that the stop comes before the end
      daemon.send("EN", end(i, bad ? "EARLY_STOPPED" : "SUCCEEDED"));
    }
    daemon.sync();
    if (!killed) return next_trial(daemon);
    daemon.signal(SIGKILL);
    daemon.wait();
    DaemonProcess after = start("resume");
    after.send("IN", kSpace);
    after.sync();
    return next_trial(after);
  };
  const std::string undisturbed = next("worst", false);
  CHECK(next("worst", true) == undisturbed);
  CHECK(next("ignore", false) != undisturbed);
}

TEST_CASE("resume: what is assumed of stopped trials belongs to the experiment") {
  const TemporaryFolder folder;
  const auto start = [&](const std::string& mode, const std::string& word, const char* tuner) {
    json assessor = {{"name", "Medianstop"}};
    if (!word.empty()) assessor["stoppedTrials"] = word;
    return DaemonProcess(
        DaemonProcess::exp_params({{"tuner", {{"name", tuner}}}, {"assessor", assessor}}),
        {{"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", folder.path.string()}});
  };
  const auto log_of = [](DaemonProcess daemon) {
    daemon.send("IN", kSpace);
    daemon.send("GE", "1");
    daemon.sync();
    daemon.send("TE");
    REQUIRE(daemon.wait() == 0);
    return daemon.log();
  };
  const auto [first, second, same] = GENERATE(table<std::string, std::string, bool>(
      {{"", "ignore", true}, {"worst", "worst", true}, {"worst", "", false}, {"", "last", false}}));
  CAPTURE(first, second);
  log_of(start("start", first, "TPE"));
  const std::string log = log_of(start("resume", second, "TPE"));
  CHECK((log.find("resumed from") != log.npos) == same);
  CHECK((log.find("its assessor was") == log.npos) == same);
}

TEST_CASE("a tuner that learns from all reports is told nothing of stopped trials, which is said") {
  DaemonProcess daemon(DaemonProcess::exp_params(
      {{"tuner", {{"name", "Hyperband"}}},
       {"assessor", {{"name", "Medianstop"}, {"stoppedTrials", "last"}}}}));
  daemon.send("IN", kSpace);
  daemon.sync();
  CHECK_THAT(daemon.log(), Catch::Contains("assessor.stoppedTrials has no effect: Hyperband"));
}

// A daemon of NNI's own manager with PBT, and the folder that it names for its first trial.
struct PbtRun {
  PbtRun(const std::string& mode, const std::string& folder, const json& arguments = {})
      : daemon({"--exp_params",
                base64_encode(dump_json({{"tuner", {{"name", "PBT"}, {"classArgs", arguments}}}}))},
               {{"NNI_MODE", mode}, {"NNI_CHECKPOINT_DIRECTORY", folder}}) {
    daemon.send("IN", kSpace);
    CHECK(daemon.receive()->code == "ID");
    daemon.send("GE", "1");
    const auto trial = daemon.receive();
    saves = parse_json(trial->payload).value()["parameters"]["save_checkpoint_dir"];
    daemon.send("TE");
    CHECK(daemon.wait() == 0);
  }
  DaemonProcess daemon;
  std::string saves;
};

TEST_CASE("PBT saves in the folder that NNI's manager names, also after it was resumed elsewhere") {
  TemporaryFolder first, second;
  const std::string folder = first.path;
  CHECK(PbtRun("start", folder, {{"all_checkpoint_dir", "/given"}}).saves == "/given/0/0");
  CHECK(PbtRun("start", folder, {{"all_checkpoint_dir", nullptr}}).saves == folder + "/0/0");
  CHECK(PbtRun("start", folder, {{"seed", 1}}).saves == folder + "/0/0");
  std::filesystem::rename(first.path / "attuned.journal", second.path / "attuned.journal");
  // The experiment was moved. The replay must give the same answers as before.
  const PbtRun resumed("resume", second.path, {{"seed", 1}});
  CHECK(resumed.saves == folder + "/0/0");
  CHECK_THAT(resumed.daemon.log(), Catch::Contains("resumed from"));
}

TEST_CASE("resume: the limits are those that the experiment began with") {
  const Experiment experiment;
  {
    DaemonProcess before = experiment.start("start");
    before.send("IN", kSpace);
    before.sync();
  }
  auto arguments =
      DaemonProcess::exp_params({{"tuner", {{"name", "TPE"}, {"classArgs", {{"seed", 3}}}}},
                                 {"assessor", {{"name", "Medianstop"}}}});
  arguments.insert(arguments.end(), {"--max-request", "1", "--max-queue", "100000"});
  DaemonProcess after(arguments, {{"NNI_MODE", "resume"},
                                  {"NNI_CHECKPOINT_DIRECTORY", experiment.folder.path.string()}});
  after.send("IN", kSpace);
  after.send("GE", "2");
  CHECK(outlines(after.sync()) == "ID, TR 0, TR 1");
  CHECK_THAT(after.log(),
             Catch::Contains("--max-request 1 does not count: the experiment began with 100000"));
  CHECK_THAT(after.log(), !Catch::Contains("--max-queue"));
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
  std::vector<std::string> all;
  for (int i = 0; i < 4; ++i) {
    DaemonProcess daemon = experiment.start("start");
    daemon.send("IN", kSpace);
    daemon.sync();
    daemon.send("GE", std::to_string(i + 1));
    daemon.sync();
    daemon.send("TE");
    REQUIRE(daemon.wait() == 0);
    all.push_back(read_file(experiment.file()).value());
  }
  // Each under a name of its own.
  CHECK(read_file(experiment.file() + ".previous").value() == all[0]);
  CHECK(read_file(experiment.file() + ".previous.1").value() == all[1]);
  CHECK(read_file(experiment.file() + ".previous.2").value() == all[2]);
}

TEST_CASE("a daemon that cannot begin leaves the journal where it is") {
  const Experiment experiment;
  run_and_kill(experiment, 0);
  const std::string journal = read_file(experiment.file()).value();
  auto arguments = DaemonProcess::exp_params({{"tuner", {{"name", "TPE"}}}});
  arguments.insert(arguments.end(), {"--in-fd", "77"});  // nothing is open there
  DaemonProcess daemon(arguments, {{"NNI_CHECKPOINT_DIRECTORY", experiment.folder.path.string()}});
  CHECK(daemon.wait() == 2);
  CHECK(read_file(experiment.file()) == journal);
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

}  // namespace attune::resume_test
