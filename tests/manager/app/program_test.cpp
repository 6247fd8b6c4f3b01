// The program attune as a user runs it, with tiny shell trials and the fake daemon.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "backends/local/file_watch.h"
#include "base/json.h"
#include "manager/control/control_client.h"
#include "manager/store/store_reader.h"
#include "os/process.h"
#include "os/unique_fd.h"
#include "tests/manager/app/program_folder.h"

namespace attune::program_test {

TEST_CASE("attune run: from the file to the best configuration") {
  const ProgramFolder folder;
  folder.write("report PERIODICAL 0.5; report FINAL $NNI_TRIAL_SEQ_ID");
  const Run run = folder.run_experiment({"--json", "--seed", "7"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  const json summary = parse_json(run.out).value();
  CHECK(summary["status"] == "completed");
  CHECK(summary["optimize_mode"] == "maximize");
  CHECK(summary["seed"] == 7);
  CHECK(summary["trials"]["succeeded"] == 3);
  CHECK(summary["best"]["score"] == 2);
  CHECK(summary["best"]["trial_job_id"] == "t0002");
  CHECK(dump_json(summary["best"]["parameters"]) == R"({"x":2})");
  CHECK(summary["session"]["status"] == "completed");
  // It is what `status` prints, and the session.
  json shown = parse_json(folder.run({"status", "--dir", "exp", "--json"}).out).value();
  shown["session"] = summary["session"];
  CHECK(summary == shown);

  for (const StoredTrial& trial : folder.trials()) {
    CHECK(trial.trial.status == TrialStatus::succeeded);
    CHECK(trial.trial.final_metric == trial.trial.sequence);
    REQUIRE(trial.reports.size() == 2);
    CHECK(trial.reports[0].value == 0.5);
    CHECK(trial.attempts.size() == 1);
  }
  CHECK(folder.trials().size() == 3);
  CHECK(folder.text("exp/trials/t0001/parameter.cfg") ==
        R"({"parameter_id": 1, "parameters": {"x":1}, "extra":1})");
  StoreReader reader = StoreReader::open(folder.path / "exp").value();
  const StoredExperiment kept = reader.find("").value();
  CHECK(kept.seed == 7);
  CHECK(kept.status == ExperimentStatus::completed);
  CHECK(kept.file["tuner"]["classArgs"]["seed"] == 7);
  CHECK(run.err.find("[3/3]") != std::string::npos);
  CHECK(run.err.find('\x1b') == std::string::npos);

  const Run again = folder.run_experiment();
  CHECK(again.code == 2);
  CHECK(again.err.find("holds the trials of another run") != std::string::npos);
}

TEST_CASE("attune importance: of an experiment that has ended") {
  const ProgramFolder folder;
  folder.write("report FINAL $NNI_TRIAL_SEQ_ID");
  REQUIRE(folder.run_experiment({"--quiet"}).code == 0);
  const json object = parse_json(folder.run({"importance", "--dir", "exp", "--json"}).out).value();
  CHECK(object["optimize_mode"] == "maximize");
  CHECK(object["trials"] == 2);  // x is 0, 1 and 2, the last one outside of the search space
  CHECK(object["outside"] == 1);
  CHECK(object["parameters"] == json{{{"parameter", "x"}, {"share", 1.0}}});
  const Run shown = folder.run({"importance", "--dir", "exp", "--method", "fanova"});
  CHECK(shown.code == 0);
  CHECK(shown.out.find("x          1.000  ####################\n") != std::string::npos);
  const Run wrong = folder.run({"importance", "--dir", "exp", "--metric", "loss"});
  CHECK(wrong.code == 1);
  CHECK(wrong.err.find("\"loss\" is no objective") != std::string::npos);
  CHECK(folder.run({"importance", "--pairs", "--method", "ped-anova"}).code == 2);
}

TEST_CASE("attune run: the best configuration keeps the limit") {
  const ProgramFolder folder;
  // The higher the accuracy, the longer it takes.
  folder.write(R"(n=$NNI_TRIAL_SEQ_ID; report FINAL "{\\\"accuracy\\\": $n, \\\"seconds\\\": $n}")",
               "maxTrialNumber: 3\nobjectives: [{metric: accuracy, mode: maximize}, "
               "{metric: seconds, limit: 1.5}]\n");
  const Run run = folder.run_experiment({"--json"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK(parse_json(run.out).value()["best"]["trial_job_id"] == "t0001");
  CHECK(run.err.find("[3/3] t0002 succeeded 2, best 1 (t0001)") != std::string::npos);
  CHECK(folder.run({"best", "--dir", "exp"})
            .out.starts_with("1 (highest, trial t0001)\n  with seconds 1 (limit: at most 1.5)\n"));
  CHECK(folder.run({"status", "--dir", "exp"}).out.find("\nbest 1 (t0001)\n") != std::string::npos);
  // A later manager knows it, too.
  const Run resumed = folder.run(
      {"resume", "--dir", "exp", "--max-trials", "4", "--daemon", FAKE_DAEMON, "--quiet"});
  CAPTURE(resumed.err);
  CHECK(resumed.out.find("best 1 (highest, trial t0001)") != std::string::npos);
}

TEST_CASE("attune run: a bad trial is stopped early") {
  const ProgramFolder folder;
  ::mkfifo((folder.path / "never").c_str(), 0600);
  folder.write(
      "[ $NNI_TRIAL_SEQ_ID = 1 ] && report PERIODICAL 101 && read x < never\n  report FINAL 1");
  const Run run = folder.run_experiment({"--json"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  const json summary = parse_json(run.out).value();
  CHECK(summary["trials"]["early_stopped"] == 1);
  CHECK(summary["trials"]["succeeded"] == 2);
  const StoredTrial stopped = folder.trials().at(1);
  CHECK(stopped.trial.status == TrialStatus::early_stopped);
  CHECK(stopped.trial.reason == "above 100");
  REQUIRE(stopped.decisions.size() == 1);
  CHECK(stopped.decisions[0].by == "decider");
}

TEST_CASE("attune run: failures end with 1 and say what to look at") {
  const ProgramFolder folder;
  SECTION("all trials fail") {
    folder.write("echo 'no module named torch' >&2; exit 3", "");
    const Run run = folder.run_experiment();
    CHECK(run.code == 1);
    CHECK(run.err.find("all 5 trials failed; the last one with exit code 3") != std::string::npos);
    CHECK(run.err.find("no module named torch") != std::string::npos);
  }
  SECTION("many trials, and none reports") {
    folder.write("echo loss 1", "trialConcurrency: 2\nmaxTrialNumber: 30\n");
    const Run run = folder.run_experiment();
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Catch::Contains("5 trials have ended well, but none has a result") &&
                            Catch::Contains("attune.final(number)") &&
                            Catch::Contains("nni.report_final_result(number)") &&
                            Catch::Contains(R"(`report: {regex: 'loss (?<default>\S+)'}`)"));
  }
  SECTION("no trial reports") {
    folder.write("true");
    const Run run = folder.run_experiment();
    CHECK(run.code == 1);
    CHECK(run.err.find("no trial has a result (3 succeeded") != std::string::npos);
  }
}

TEST_CASE("attune run: what the daemon refuses is said with its line, and nothing is left behind") {
  const ProgramFolder folder;
  const auto [tuner, wanted] = GENERATE(table<std::string, std::string>({
      {"tuner: {name: TPEE}", "e.yaml:2:9: tuner.name: unknown tuner \"TPEE\""},
      {"tuner:\n  name: TPE\n  classArgs: {no_such: 1}",
       "e.yaml:4:15: tuner.classArgs.no_such: unknown argument \"no_such\""},
      {"tuner: {name: TPE, classArgs: {optimize_mode: sideways}}",
       "e.yaml:2:32: tuner.classArgs.optimize_mode: one of maximize, minimize"},
      {"assessor: {name: Medianstopp}", "e.yaml:2:12: assessor.name: unknown assessor"},
      {"assessor: {name: PASHA}", "e.yaml:2:12: assessor.name: PASHA belongs under the key tuner"},
      {"tuner: {name: Medianstop}", "e.yaml:2:9: tuner.name: Medianstop belongs under the key ass"},
      {"assessor: {name: Medianstop, classArgs: {start_step: x}}",
       "e.yaml:2:42: assessor.classArgs.start_step: an integer"},
      {"tuner: {name: Batch}", "e.yaml:1:1: searchSpace: "},
  }));
  CAPTURE(tuner);
  std::ofstream(folder.path / "e.yaml") << "searchSpace: {x: {_type: uniform, _value: [0, 1]}}\n"
                                        << tuner << "\ntrialCommand: 'true'\n";
  const std::string dry = GENERATE("", "--dry-run");
  std::vector<std::string> arguments = {"run", "e.yaml", "--dir", "exp"};
  if (!dry.empty()) arguments.push_back(dry);
  const Run run = folder.run(arguments);
  CHECK(run.code == 2);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, Catch::Contains(wanted));
  CHECK_FALSE(std::filesystem::exists(folder.path / "exp"));
}

TEST_CASE("attune run: what stoppedTrials says to a tuner that does not ask is a warning") {
  const ProgramFolder folder;
  const auto warnings = [&folder](const std::string& tuner, const std::string& assumed) {
    std::ofstream(folder.path / "e.yaml")
        << "searchSpace: {x: {_type: uniform, _value: [0, 1]}}\ntrialCommand: 'true'\n"
        << "objectives: [{metric: loss}]\nassessor: {name: Threshold, stoppedTrials: " << assumed
        << "}\ntuner: {name: " << tuner << "}\n";
    const Run run = folder.run({"run", "e.yaml", "--dry-run"});
    CHECK(run.code == 0);
    return run.err;
  };
  CHECK_THAT(warnings("ASHA", "worst"),
             Catch::Contains("warning: e.yaml:4:29: assessor.stoppedTrials: it has no effect"));
  CHECK(warnings("ASHA", "ignore").empty());
  CHECK(warnings("TPE", "worst").empty());
}

TEST_CASE("attune run: maxExperimentDuration stops what runs") {
  const ProgramFolder folder;
  for (const char* name : {"never", "line"}) ::mkfifo((folder.path / name).c_str(), 0600);
  const UniqueFd line(::open((folder.path / "line").c_str(), O_RDWR | O_CLOEXEC));
  folder.write(
      "[ $NNI_TRIAL_SEQ_ID = 0 ] && report FINAL 1 || { printf x > line; read x < never; }",
      "trialConcurrency: 2\nmaxExperimentDuration: 1h\n");
  boost::asio::io_context io;
  std::optional<ExitStatus> exit;
  const auto process =
      folder.spawn(io, {"run", "e.yaml", "--dir", "exp", "--daemon", FAKE_DAEMON, "--json"},
                   [&](ExitStatus status) { exit = status; });
  // It is over when two hang, however long it took to come so far.
  for (int hanging = 0; hanging < 2; ++hanging) {
    pollfd waited{line.get(), POLLIN, 0};
    REQUIRE(::poll(&waited, 1, 200'000) == 1);
    char byte = 0;
    REQUIRE(::read(line.get(), &byte, 1) == 1);
  }
  UpdateRequest over;
  over.max_seconds = 1e-3;
  REQUIRE(ask_manager(folder.path / "exp", over).has_value());
  io.run_for(std::chrono::seconds(200));
  REQUIRE(exit.has_value());
  CAPTURE(folder.text("err"));
  CHECK(exit->code == 0);
  const json summary = parse_json(folder.text("out")).value();
  CHECK(summary["reason"] == "maxExperimentDuration is over");
  CHECK(summary["trials"]["user_canceled"] == 2);
}

TEST_CASE("attune run: what is wrong before the first trial ends with 2") {
  const ProgramFolder folder;
  folder.write("true", "maxTrialNumbr: 3\n");
  struct Row {
    std::vector<std::string> arguments;
    std::string message;
  };
  const Row row = GENERATE(values<Row>({
      {{}, "subcommand"},
      {{"run"}, "file is required"},
      {{"run", "none.yaml"}, "cannot open none.yaml: No such file"},
      {{"run", "e.yaml", "--bogus"}, "--bogus"},
      {{"run", "e.yaml", "--max-trials", "0"}, "--max-trials"},
      {{"run", "e.yaml"}, "did you mean \"maxTrialNumber\"?"},
  }));
  const Run run = folder.run(row.arguments);
  CHECK(run.code == 2);
  CHECK(run.err.find(row.message) != std::string::npos);
  CHECK(run.out.empty());
}

TEST_CASE("attune run: a daemon that refuses ends with 2") {
  const ProgramFolder folder;
  folder.write("true");
  const Run missing = folder.run({"run", "e.yaml", "--daemon", "/nowhere/attuned"});
  CHECK(missing.code == 2);
  // Nothing was run, so the folder can be used again.
  CHECK(folder.run({"run", "e.yaml", "--dir", "exp", "--daemon", "/bin/cat"}).code == 2);
  CHECK(folder.run_experiment().code == 1);
  const Run refused = folder.run({"run", "e.yaml", "--daemon", "/bin/cat", "--quiet"});
  CHECK(refused.code == 2);
  CHECK(refused.err.find("cat ended early (exit code 1): /bin/cat: unrecognized option") !=
        std::string::npos);
  CHECK(refused.out.empty());
}

TEST_CASE("attune: help and version") {
  const ProgramFolder folder;
  const Run help = folder.run({"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("Exit codes") != std::string::npos);
  const Run version = folder.run({"--version"});
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("attune "));
}

TEST_CASE("attune run: SIGINT stops the trials and ends with 130") {
  const ProgramFolder folder;
  const bool twice = GENERATE(false, true);
  ::mkfifo((folder.path / "never").c_str(), 0600);
  ::mkfifo((folder.path / "line").c_str(), 0600);
  const UniqueFd line(::open((folder.path / "line").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  folder.write(
      std::string(twice ? "trap '' TERM; " : "") +
          "report PERIODICAL 1; exec 9> line; echo ready >&9; while true; do read x < never; done",
      "trialConcurrency: 1\n");
  boost::asio::io_context io;
  std::optional<ExitStatus> exit;
  const auto process = folder.spawn(io, {"run", "e.yaml", "--dir", "exp", "--daemon", FAKE_DAEMON},
                                    [&](ExitStatus status) { exit = status; });
  pollfd waited{line.get(), POLLIN, 0};
  REQUIRE(::poll(&waited, 1, 200'000) == 1);
  char buffer[64];
  REQUIRE(::read(line.get(), buffer, sizeof buffer) == 6);
  ::kill(process->pid(), SIGINT);
  if (twice) {
    // The second one counts only after the first was taken: its message is the sign.
    const auto watch = FileWatch::create(io, [](int) {}).value();
    REQUIRE(watch->add(folder.path / "err").has_value());
    while (folder.text("err").find("once more to kill") == std::string::npos) {
      REQUIRE(io.run_one_for(std::chrono::seconds(200)) == 1);
    }
    ::kill(process->pid(), SIGINT);
  }
  io.restart();
  io.run_for(std::chrono::seconds(200));
  REQUIRE(exit.has_value());
  CHECK(exit->code == 130);
  // Nothing of the trial is left: the last writer of the FIFO is gone.
  REQUIRE(::poll(&waited, 1, 200'000) == 1);
  CHECK(::read(line.get(), buffer, sizeof buffer) == 0);
  // It waits for the resume.
  CHECK(folder.trials().at(0).trial.status == TrialStatus::pending);
}

}  // namespace attune::program_test
