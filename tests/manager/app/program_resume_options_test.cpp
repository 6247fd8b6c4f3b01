// attune resume with something new to do, or nothing; and what is imported at the start.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/json.h"
#include "tests/manager/app/program_folder.h"

namespace attune::program_resume_options_test {

using Catch::Matchers::Contains;

class Folder : public ProgramFolder {
 public:
  Folder() {
    environment = {"FAKE_JOURNAL=" + (path / "journal").string(),
                   "FAKE_LOG=" + (path / "heard").string()};
    write("report FINAL $NNI_TRIAL_SEQ_ID");
    std::ofstream(path / "results.jsonl") << R"({"parameters": {"x": 0.5}, "score": 0.25})"
                                          << "\n"
                                          << R"({"parameters": {"x": 9}, "score": 1})" << "\n";
    std::ofstream(path / "space.yaml") << "x: {_type: uniform, _value: [0, 2]}\n";
  }
  Run resume(std::vector<std::string> more = {}, const std::string& daemon = FAKE_DAEMON) const {
    std::vector<std::string> arguments = {"resume", "--dir", "exp", "--daemon", daemon};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  StoredExperiment stored() const {
    return StoreReader::open(path / "exp").value().find("").value();
  }
  std::vector<ImportData::Record> imports() const {
    StoreReader reader = StoreReader::open(path / "exp").value();
    return reader.imports(reader.find("").value()).value();
  }
  // The codes of what the daemon has heard, with those of its lives.
  std::vector<std::string> heard() const {
    std::istringstream lines(text("heard"));
    std::vector<std::string> codes;
    for (std::string line; std::getline(lines, line);) codes.push_back(line.substr(0, 2));
    return codes;
  }
  std::int64_t heard(const std::string& code) const { return std::ranges::count(heard(), code); }
};

TEST_CASE("attune resume: with nothing left to do it says so, and does nothing") {
  const Folder folder;
  REQUIRE(folder.run_experiment().code == 0);
  const auto before = folder.heard();
  const std::string where = "--dir " + (folder.path / "exp").string();
  Run run = folder.resume();
  CHECK(run.code == 0);
  CHECK_THAT(run.out, Contains("nothing was left to do: maxTrialNumber 3 is reached\n"
                               "to go on: attune resume " +
                               where + " --max-trials 6\n"));
  const json summary = parse_json(folder.resume({"--json"}).out).value();
  CHECK(summary["status"] == "completed");
  CHECK_THAT(summary["session"]["reason"].get<std::string>(), Contains("nothing was left to do"));
  run = folder.resume({"--max-trials", "2", "--duration", "1"});
  CHECK(run.code == 0);
  CHECK_THAT(run.out, Contains("maxTrialNumber 2 is reached"));
  CHECK(folder.stored().runs == 1);
  CHECK(folder.stored().file["maxTrialNumber"] == 3);
  CHECK(folder.heard() == before);  // no daemon has begun
  // As it was told to.
  run = folder.resume({"--max-trials", "6"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK(folder.stored().runs == 2);
  CHECK_THAT(run.out, Contains("since the resume: 3 trials in ") &&
                          Contains("\nwhole experiment: 6 trials in "));
}

TEST_CASE("attune resume: in another search space") {
  const Folder folder;
  REQUIRE(folder.run_experiment().code == 0);
  std::ofstream(folder.path / "wrong.yaml") << "x: {_type: uniform}\n";
  for (const auto& [wrong, why] : {std::pair{"wrong.yaml", "wrong.yaml:1:1: x._value: missing"},
                                   std::pair{"nowhere.yaml", "nowhere.yaml"}}) {
    const Run refused = folder.resume({"--max-trials", "4", "--search-space", wrong});
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Contains(why));
    CHECK(folder.stored().runs == 1);
  }
  SECTION("the tuner goes on, and is told") {
    const Run run = folder.resume({"--max-trials", "4", "--search-space", "space.yaml"});
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    CHECK(folder.heard("SS") == 1);
  }
  SECTION("a manager that ends before its daemon begins loses nothing") {
    Folder dying;
    REQUIRE(dying.run_experiment().code == 0);
    dying.environment.emplace_back("FAKE_DAEMON=dies");
    CHECK(dying.resume({"--max-trials", "4", "--search-space", "space.yaml"}).code != 0);
    dying.environment.pop_back();
    CHECK(dying.stored().file["searchSpace"]["x"]["_value"][1] == 2);
    const Run run = dying.resume();
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    CHECK(dying.heard("SS") == 1);
    CHECK(dying.trials().size() == 4);
    return;
  }
  CHECK(folder.stored().file["searchSpace"]["x"]["_value"][1] == 2);
  CHECK(folder.trials().size() == 4);
  // A later one knows it.
  REQUIRE(folder.resume({"--max-trials", "5"}).code == 0);
  CHECK(folder.heard("SS") == 1);
}

TEST_CASE("attune resume: results from elsewhere are told first, and once") {
  Folder folder;
  REQUIRE(folder.run_experiment().code == 0);
  const Run refused = folder.resume({"--max-trials", "4", "--import", "nowhere.csv"});
  CHECK(refused.code == 2);
  const Run dry = folder.resume({"--max-trials", "4", "--import", "results.jsonl", "--dry-run"});
  CHECK(dry.code == 0);
  CHECK_THAT(dry.out, Contains("1 results could be imported, 1 left out; the first: {\"x\":9}: "));
  CHECK(folder.imports().empty());
  CHECK(folder.stored().runs == 1);
  const std::string end = GENERATE("well", "daemon dies", "afresh");
  CAPTURE(end);
  if (end == "daemon dies") {
    folder.environment.emplace_back("FAKE_DAEMON=dies");
    CHECK(folder.resume({"--max-trials", "4", "--import", "results.jsonl"}).code != 0);
    folder.environment.pop_back();
    CHECK(folder.resume().code == 0);
  } else {
    if (end == "afresh") folder.environment.emplace_back("FAKE_THROUGH=none");
    const Run run = folder.resume({"--max-trials", "4", "--import", "results.jsonl"});
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    CHECK_THAT(run.err, Contains("1 results imported, 1 left out"));
  }
  CHECK(folder.imports().size() == 1);
  CHECK(folder.heard("FD") == 1);
  CHECK(folder.trials().size() == 4);
  // Before the request for the trial that is new.
  const auto codes = folder.heard();
  const auto told = std::ranges::find(codes, "FD");
  CHECK(std::find(told, codes.end(), "GE") != codes.end());
  if (end == "afresh") return;
  REQUIRE(folder.resume({"--max-trials", "5"}).code == 0);
  CHECK(folder.heard("FD") == 1);
}

TEST_CASE("attune run: results from elsewhere are told before the first trial") {
  Folder folder;
  Run run = folder.run_experiment({"--import", "nowhere.csv"});
  CHECK(run.code == 2);
  run = folder.run_experiment({"--import", "results.jsonl", "--dry-run"});
  CHECK(run.code == 0);
  CHECK_THAT(run.err, Contains("1 results could be imported, 1 left out; the first: {\"x\":9}: "));
  CHECK(parse_json(run.out).has_value());
  CHECK_FALSE(std::filesystem::exists(folder.path / "exp"));
  if (GENERATE(true, false)) {
    run = folder.run_experiment({"--import", "results.jsonl"});
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
  } else {  // it ends before its daemon begins
    folder.environment.emplace_back("FAKE_DAEMON=dies");
    CHECK(folder.run_experiment({"--import", "results.jsonl"}).code != 0);
    folder.environment.pop_back();
    run = folder.resume();
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
  }
  CHECK(folder.imports().size() == 1);
  const auto codes = folder.heard();
  const auto told = std::ranges::find(codes, "FD");
  CHECK(std::ranges::count(codes, "FD") == 1);
  CHECK(std::find(codes.begin(), told, "GE") == told);
  CHECK(folder.trials().size() == 3);
}

}  // namespace attune::program_resume_options_test
