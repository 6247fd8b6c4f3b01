#include "trial/trial.h"

#include <signal.h>
#include <sys/resource.h>

#include <cmath>
#include <sstream>
#include <thread>

#include "tests/trial/trial_folder.h"

namespace attune::trial_test {

using Catch::Contains;
using Strings = std::vector<std::string>;

TEST_CASE("under a manager a trial reads its parameters and appends records") {
  const ManagedFolder folder;
  Trial trial = Trial::from_environment({.defaults = {{"lr", 7}}}).value();
  CHECK_FALSE(trial.stand_alone());
  CHECK(trial.id() == "t0003");
  CHECK(trial.sequence() == 3);
  CHECK(trial.attempt() == 1);
  CHECK(trial.output_directory() == folder.path);
  CHECK(trial.next_parameters().value() == json{{"lr", 0.01}});
  CHECK(trial.next_parameters().value() == std::nullopt);
  REQUIRE(trial.report(0.5));
  REQUIRE(trial.report({{"default", 0.25}, {"size", 3}}));
  REQUIRE(trial.final(1));
  CHECK(
      folder.text(".nni/metrics") ==
      R"(ME000089{"parameter_id":3,"trial_job_id":"t0003","type":"PERIODICAL","sequence":0,"value":"0.5"})"
      "\n"
      R"(ME000115{"parameter_id":3,"trial_job_id":"t0003","type":"PERIODICAL","sequence":1,"value":"{\"default\":0.25,\"size\":3}"})"
      "\n"
      R"(ME000082{"parameter_id":3,"trial_job_id":"t0003","type":"FINAL","sequence":0,"value":"1"})"
      "\n");
}

TEST_CASE("defaults fill in what the search space does not name") {
  const ManagedFolder folder(R"({"lr": 0.01, "model": {"_name": "a"}})");
  const TrialOptions options{.defaults = {{"depth", 3}, {"lr", 7}, {"model", {{"width", 9}}}},
                             .parameters_file = folder.path / "not read"};
  Trial trial = Trial::from_environment(options).value();
  // A whole parameter is the manager's: what is inside of it is not filled in.
  CHECK(trial.next_parameters().value() ==
        json{{"depth", 3}, {"lr", 0.01}, {"model", {{"_name", "a"}}}});
  CHECK_THAT(Trial::from_environment({.defaults = {1}}).error().message, Contains("an array"));
}

TEST_CASE("a report that the disk takes in part leaves no part of a record") {
  const ManagedFolder folder;
  Trial trial = Trial::from_environment().value();
  REQUIRE(trial.next_parameters());
  REQUIRE(trial.report(1));
  const auto size = std::filesystem::file_size(folder.path / ".nni/metrics");
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit full{.rlim_cur = size + 10, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &full) == 0);
  const auto torn = trial.report(2);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  ::signal(SIGXFSZ, handler);
  CHECK_THAT(torn.error().message, Contains("the disk is full"));
  REQUIRE(trial.report(3));
  CHECK(folder.values("PERIODICAL") == Strings{"1", "3"});
}

TEST_CASE("a metric that is no number is written as Python writes it") {
  const ManagedFolder folder;
  Trial trial = Trial::from_environment().value();
  REQUIRE(trial.next_parameters());
  REQUIRE(trial.report(std::nan("")));
  REQUIRE(trial.report({{"default", -HUGE_VAL}, {"all", {1, HUGE_VAL, json::array()}}}));
  REQUIRE(trial.report(json::object()));
  CHECK(folder.values("PERIODICAL") ==
        Strings{"NaN", R"({"default":-Infinity,"all":[1,Infinity,[]]})", "{}"});
}

TEST_CASE("a report that is refused changes nothing") {
  const ManagedFolder folder;
  Trial trial = Trial::from_environment().value();
  CHECK_THAT(trial.report(1).error().message, Contains("before next_parameters()"));
  REQUIRE(trial.next_parameters());
  CHECK_THAT(trial.report("0.5").error().message, Contains("a string"));
  CHECK_THAT(trial.report(nullptr).error().message, Contains("null"));
  CHECK_THAT(trial.report({{"text", std::string(1'000'000, 'x')}}).error().message,
             Contains("less than 1000000"));
  CHECK(folder.records().empty());
  REQUIRE(trial.report(1));
  REQUIRE(trial.final(2));
  CHECK_THAT(trial.report(3).error().message, Contains("after the final result"));
  CHECK_THAT(trial.final(3).error().message, Contains("after the final result"));
  CHECK(folder.records().size() == 2);
  CHECK(folder.records()[0].at("sequence") == 0);
}

TEST_CASE("the largest record has 999999 bytes") {
  const ManagedFolder folder;
  Trial trial = Trial::from_environment().value();
  REQUIRE(trial.next_parameters());
  const auto report = [&](std::size_t size) {
    return trial.report({{"text", std::string(size, 'x')}}).has_value();
  };
  REQUIRE(report(1));
  const std::size_t rest = std::filesystem::file_size(folder.path / ".nni/metrics") - 1;
  CHECK_FALSE(report(1'000'000 - rest));
  CHECK(report(999'999 - rest));
  CHECK(folder.records().size() == 2);
}

TEST_CASE("a parameter.cfg that is none is an error with its name") {
  const ManagedFolder folder;
  const auto error = [&](const std::string& text) {
    folder.write("parameter.cfg", text);
    return Trial::from_environment().value().next_parameters().error().message;
  };
  CHECK_THAT(error(""), Contains("parameter.cfg: the file is empty"));
  CHECK_THAT(error(R"({"parameter_id": 1, "para)"), Contains("parameter.cfg: invalid JSON"));
  CHECK_THAT(error("[]"), Contains("an array found"));
  CHECK_THAT(error(R"({"parameters": {}})"), Contains("\"parameter_id\" must be"));
  CHECK_THAT(error(R"({"parameter_id": 1})"), Contains("\"parameters\" must be"));
  CHECK_THAT(error(R"({"parameter_id": 1, "parameters": 3})"), Contains("must be an object"));
  std::filesystem::remove(folder.path / "parameter.cfg");
  CHECK_THAT(Trial::from_environment().value().next_parameters().error().message,
             Contains("parameter.cfg: No such file") && Contains("unset NNI_PLATFORM"));
}

TEST_CASE("an environment that makes no sense is an error with the variable in it") {
  ManagedFolder folder;
  const auto error = [&](const char* name, const std::string& value) {
    Environment environment;
    environment.set(name, value);
    return Trial::from_environment().error().message;
  };
  CHECK_THAT(error("NNI_SYS_DIR", ""), Contains("NNI_SYS_DIR"));
  CHECK_THAT(error("NNI_TRIAL_SEQ_ID", "3x"), Contains("NNI_TRIAL_SEQ_ID is \"3x\""));
  CHECK_THAT(error("ATTUNE_ATTEMPT", "-1"), Contains("ATTUNE_ATTEMPT is \"-1\""));
  CHECK_THAT(error("NNI_TRIAL_COMMAND_CHANNEL", "http://x"), Contains("by HTTP"));
  CHECK_THAT(error("REUSE_MODE", "true"), Contains("REUSE_MODE"));
  CHECK_THAT(error("NNI_PLATFORM", "remote"), Contains("\"remote\"") && Contains("local"));
  CHECK_THAT(error("NNI_SYS_DIR", "/dev/null/x"), Contains("/dev/null/x/.nni/metrics"));
}

TEST_CASE("with several phases a trial asks for more, and waits for the answer") {
  ManagedFolder folder;
  folder.environment.set("MULTI_PHASE", "true");
  Trial trial = Trial::from_environment().value();
  REQUIRE(trial.next_parameters());
  REQUIRE(trial.report(1));
  REQUIRE(trial.final(1));
  CHECK_THAT(trial.report(1).error().message, Contains("after the final result"));

  SECTION("renamed into its place") {
    std::jthread answer([&] {
      // Both orders of answer and wait happen; nothing but the request says that it waits.
      while (folder.text(".nni/metrics").find("REQUEST") == std::string::npos) {
        std::this_thread::yield();
      }
      folder.write("parameter_1.cfg.tmp", R"({"parameter_id": "4", "parameters": {"lr": 4}})");
      std::filesystem::rename(folder.path / "parameter_1.cfg.tmp", folder.path / "parameter_1.cfg");
    });
    CHECK(trial.next_parameters().value() == json{{"lr", 4}});
    CHECK(folder.records().back() == json{{"trial_job_id", "t0003"},
                                          {"type", "REQUEST_PARAMETER"},
                                          {"sequence", 0},
                                          {"parameter_index", 1}});
    REQUIRE(trial.report(2));
    CHECK(folder.records().back().at("parameter_id") == "4");
    CHECK(folder.records().back().at("sequence") == 1);
  }
  SECTION("there already: nobody is asked") {
    folder.write("parameter_1.cfg", R"({"parameter_id": 4, "parameters": {"lr": 4}})");
    CHECK(trial.next_parameters().value() == json{{"lr", 4}});
    CHECK(folder.values("REQUEST_PARAMETER").empty());
  }
}

TEST_CASE("files of the checkpoint folder are there whole or not at all") {
  const ManagedFolder folder;
  Trial trial = Trial::from_environment().value();
  CHECK(trial.checkpoint_dir() == folder.path / "checkpoint");
  CHECK(trial.restore("state").value() == std::nullopt);
  const std::string bytes("a\0b\xff", 4);
  REQUIRE(trial.save("state", bytes));
  REQUIRE(trial.save("other", ""));
  CHECK(trial.restore("state").value() == bytes);
  CHECK(trial.restore("other").value() == "");
  for (const std::string name : {"", ".", "..", "a/b", "x.tmp", ".hidden"}) {
    INFO(name);
    CHECK_FALSE(trial.save(name, "x"));
    CHECK_FALSE(trial.restore(name));
  }
  CHECK(folder.files() ==
        Strings{".nni/metrics", "checkpoint/other", "checkpoint/state", "parameter.cfg"});
}

class Alone {
 public:
  Alone() {
    for (const char* name : {"NNI_PLATFORM", "NNI_SYS_DIR", "ATTUNE_CHECKPOINT_DIR"}) {
      environment.set(name, "");
    }
  }
  Environment environment;
  std::ostringstream out;
};

TEST_CASE("alone a trial has its defaults, and prints") {
  Alone alone;
  alone.environment.set("NNI_PLATFORM", GENERATE("", "standalone", "unittest"));
  Trial trial = Trial::from_environment({.defaults = {{"lr", 0.5}}, .output = &alone.out}).value();
  CHECK(trial.stand_alone());
  CHECK(trial.next_parameters().value() == json{{"lr", 0.5}});
  CHECK(trial.next_parameters().value() == std::nullopt);
  REQUIRE(trial.report(0.5));
  REQUIRE(trial.report({{"default", std::nan("")}}));
  REQUIRE(trial.final(0.25));
  CHECK_FALSE(trial.final(0.25));
  CHECK(alone.out.str() == "report 0: 0.5\nreport 1: {\"default\":NaN}\nfinal: 0.25\n");
  // Nobody keeps checkpoints: saving is no error, and nothing comes back.
  CHECK(trial.checkpoint_dir() == std::nullopt);
  REQUIRE(trial.save("state", "x"));
  CHECK(trial.restore("state").value() == std::nullopt);
}

TEST_CASE("a file replaces defaults, a folder keeps checkpoints") {
  const Alone alone;
  const Folder folder;
  folder.write("config.json", R"({"lr": 0.1})");
  const TrialOptions options{.defaults = {{"lr", 0.5}, {"steps", 3}},
                             .parameters_file = folder.path / "config.json",
                             .checkpoint_dir = folder.path / "a/b"};
  Trial trial = Trial::from_environment(options).value();
  CHECK(trial.next_parameters().value() == json{{"lr", 0.1}, {"steps", 3}});
  REQUIRE(trial.save("state", "x"));
  CHECK(Trial::from_environment(options).value().restore("state").value() == "x");

  CHECK_THAT(Trial::from_environment({.defaults = {1}}).error().message, Contains("an array"));
  CHECK_THAT(Trial::from_environment({.parameters_file = folder.path / "no"}).error().message,
             Contains("No such file"));
  folder.write("config.json", "{");
  CHECK_THAT(Trial::from_environment(options).error().message, Contains("config.json: invalid"));
  folder.write("config.json", "3");
  CHECK_THAT(Trial::from_environment(options).error().message, Contains("config.json: an object"));
}

}  // namespace attune::trial_test
