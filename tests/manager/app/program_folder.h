#pragma once
// A folder with an experiment in it, and the program attune to run there.
#include <fcntl.h>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "manager/store/store_reader.h"
#include "os/process.h"
#include "os/unique_fd.h"

namespace attune {

struct Run {
  int code = -1;
  std::string out, err;
};

class ProgramFolder {
 public:
  ProgramFolder() {
    char name[] = "/tmp/attune-test-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~ProgramFolder() { std::filesystem::remove_all(path); }

  std::string text(const std::filesystem::path& name) const {
    std::ifstream stream(path / name);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  // An experiment whose trial is `command`, with `report TYPE VALUE` at hand.
  void write(const std::string& command,
             const std::string& more = "trialConcurrency: 2\nmaxTrialNumber: 3\n") const {
    std::ofstream(path / "report.sh") <<
        R"(report() {
  id=$(sed 's/.*"parameter_id": *\([0-9]*\).*/\1/' "$NNI_SYS_DIR/parameter.cfg")
  r="{\"parameter_id\": $id, \"trial_job_id\": \"$NNI_TRIAL_JOB_ID\", \"type\": \"$1\", \"sequence\": 0, \"value\": \"$2\"}"
  printf 'ME%06d%s\n' $((${#r}+1)) "$r" >> "$NNI_SYS_DIR/.nni/metrics"
}
)";
    std::ofstream(path / "e.yaml") << "searchSpace: {x: {_type: uniform, _value: [0, 1]}}\n"
                                      "tuner: {name: TPE, classArgs: {optimize_mode: maximize}}\n"
                                      "trialCommand: |\n  . ./report.sh\n  "
                                   << command << "\n"
                                   << more;
  }

  std::unique_ptr<ChildProcess> spawn(boost::asio::io_context& io,
                                      std::vector<std::string> arguments,
                                      ChildProcess::OnExit on_exit) const {
    const UniqueFd out(
        ::open((path / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const UniqueFd err(
        ::open((path / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    ProcessSpec spec;
    spec.arguments = {ATTUNE};
    spec.arguments.insert(spec.arguments.end(), arguments.begin(), arguments.end());
    spec.environment = {"PATH=/usr/bin:/bin"};
    spec.environment.insert(spec.environment.end(), environment.begin(), environment.end());
    spec.directory = path;
    spec.descriptors = {{1, out.get()}, {2, err.get()}};
    return ChildProcess::spawn(io, spec, std::move(on_exit)).value();
  }

  // The exit code, or minus the signal. Reads nothing of what was printed.
  int code_of(const std::vector<std::string>& arguments) const {
    boost::asio::io_context io;
    std::optional<ExitStatus> exit;
    const auto process = spawn(io, arguments, [&](ExitStatus status) { exit = status; });
    io.run_for(std::chrono::seconds(200));
    REQUIRE(exit.has_value());
    return exit->signal == 0 ? exit->code : -exit->signal;
  }
  Run run(const std::vector<std::string>& arguments) const {
    const int code = code_of(arguments);
    return {code, text("out"), text("err")};
  }
  Run run_experiment(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"run", "e.yaml", "--dir", "exp", "--daemon", FAKE_DAEMON};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  std::vector<StoredTrial> trials() const {
    StoreReader reader = StoreReader::open(path / "exp").value();
    const StoredExperiment experiment = reader.find("").value();
    std::vector<StoredTrial> all;
    const std::vector<TrialRecord> trials = reader.trials(experiment, {}).value();
    for (const TrialRecord& trial : trials)
      all.push_back(reader.whole_trial(experiment, trial.job_id).value());
    return all;
  }

  std::filesystem::path path;
  std::vector<std::string> environment = {};  // of attune and its daemon, beside PATH
};

}  // namespace attune
