#include "daemon/options.h"

#include <catch2/catch.hpp>

#include "base/base64.h"
#include "daemon/listing.h"

namespace attune::options_test {

struct Outcome {
  Options options;
  std::string error;  // of the configuration
  Usage usage{-1, ""};
};

Outcome read(std::vector<std::string> arguments,
             const std::map<std::string, std::string>& environment = {}) {
  arguments.insert(arguments.begin(), "attuned");
  std::vector<const char*> argv;
  for (const auto& argument : arguments) argv.push_back(argument.c_str());
  Outcome outcome;
  auto result =
      read_options(static_cast<int>(argv.size()), argv.data(), environment, 77, outcome.options);
  if (!result) {
    outcome.usage = result.error();
  } else if (!*result) {
    outcome.error = result->error().message;
  }
  return outcome;
}

Outcome read_experiment_text(const std::string& text) {
  return read({"-m", "nni", "--exp_params", base64_encode(text)});
}

TEST_CASE("NNI's command line: v2 schema") {
  const auto outcome = read_experiment_text(R"({
      "experimentName": "x", "trialCommand": "python3 t.py", "trialConcurrency": 2,
      "maxTrialNumber": 10, "capabilities": ["sync", "reason", "telepathy"],
      "tuner": {"name": "TPE", "classArgs": {"optimize_mode": "maximize"}},
      "assessor": {"name": "Medianstop"}, "advisor": null,
      "trainingService": {"platform": "local"}, "deprecated": {"multiThread": true}})");
  REQUIRE(outcome.error.empty());
  const Configuration& c = outcome.options.configuration;
  CHECK(c.tuner.name == "TPE");
  CHECK(c.tuner.arguments["optimize_mode"] == "maximize");
  REQUIRE(c.assessor);
  CHECK(c.assessor->name == "Medianstop");
  CHECK(c.context.concurrency == 2);
  CHECK(c.context.max_trials == 10);
  CHECK(c.capabilities.sync);
  CHECK(c.capabilities.reason);
  CHECK_FALSE(c.capabilities.pause);
  CHECK(c.notes.size() == 1);
  CHECK(c.fallback_seed == 77);
  CHECK(c.in_fd == 3);
  CHECK(c.out_fd == 4);
}

TEST_CASE("a socket to listen at takes the place of every other channel") {
  const auto outcome = read({"--listen", "s"}, {{"NNI_TUNER_COMMAND_CHANNEL", "ws://localhost:1"}});
  CHECK(outcome.options.configuration.listen == "s");
  CHECK(outcome.options.configuration.websocket_url.empty());
  CHECK(outcome.options.configuration.nni_manager);
  CHECK_FALSE(read({"--listen", "s", "--capabilities", "sync"}).options.configuration.nni_manager);
  for (const char* other : {"--in-fd", "--out-fd", "--channel"}) {
    const auto both = read({"--listen", "s", other, "0"});
    CHECK(both.usage.exit_code == 2);
    CHECK_THAT(both.usage.text, Catch::Contains("--listen") && Catch::Contains(other));
  }
}

TEST_CASE("the WebSocket of the environment gives way to what is said on the command line") {
  const std::map<std::string, std::string> environment = {
      {"NNI_TUNER_COMMAND_CHANNEL", "ws://localhost:8080/tuner"}};
  auto channel = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"--tuner", "Random"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return read(arguments, environment).options.configuration.websocket_url;
  };
  CHECK(channel({}) == "ws://localhost:8080/tuner");
  CHECK(channel({"--channel", "ws://elsewhere:1/tuner"}) == "ws://elsewhere:1/tuner");
  CHECK(channel({"--in-fd", "0", "--out-fd", "1"}).empty());
}

TEST_CASE("NNI's command line: v1 schema") {
  const auto outcome = read_experiment_text(R"({"trainingServicePlatform": "local",
      "maxTrialNum": 5, "multiThread": false,
      "tuner": {"builtinTunerName": "Random", "classArgs": {"seed": 3}},
      "assessor": {"builtinAssessorName": "Medianstop", "classArgs": {"start_step": 2}}})");
  REQUIRE(outcome.error.empty());
  const Configuration& c = outcome.options.configuration;
  CHECK(c.tuner.name == "Random");
  CHECK(c.tuner.arguments["seed"] == 3);
  CHECK(c.assessor->arguments["start_step"] == 2);
  CHECK(c.context.max_trials == 5);
  CHECK(c.notes.empty());
}

TEST_CASE("the assessor's section says what a tuner is to assume of stopped trials") {
  const auto with = [](const std::string& more) {
    return read_experiment_text(R"({"tuner": {"name": "TPE"}, "assessor": {"name": "Medianstop")" +
                                more + "}}");
  };
  CHECK(with("").options.configuration.stopped_trials == StoppedTrials::ignore);
  CHECK(with(R"(, "stoppedTrials": "worst")").options.configuration.stopped_trials ==
        StoppedTrials::worst);
  CHECK(
      with(R"(, "stoppedTrials": "best")").error ==
      R"(assessor.stoppedTrials: "ignore", "last", "worst", "extrapolated" expected, not "best")");
  CHECK(with(R"(, "stoppedTrials": 3)").error.ends_with("expected, not 3"));
}

TEST_CASE("an advisor is a tuner, and replaces tuner and assessor") {
  const auto outcome = read_experiment_text(R"({"tuner": {"name": "TPE"},
      "assessor": {"name": "Medianstop"}, "advisor": {"name": "Hyperband", "classArgs": {"R": 9}}})");
  CHECK(outcome.options.configuration.tuner.name == "Hyperband");
  CHECK_FALSE(outcome.options.configuration.assessor);
  CHECK(outcome.options.configuration.notes.size() == 1);
}

TEST_CASE("experiment parameters that cannot be used say what is wrong") {
  CHECK(read({"--exp_params", "!!notbase64"}).error ==
        "--exp_params: base64: 11 characters; a multiple of 4 expected (padded with =)");
  CHECK(read_experiment_text("{nope").error.find("--exp_params: invalid JSON at byte") == 0);
  CHECK(read_experiment_text("[]").error.find("an object expected") != std::string::npos);
  CHECK(read_experiment_text("{}").options.configuration.tuner.name == "auto");
  CHECK(read_experiment_text(R"({"tuner": {}})").error.find("tuner.name is missing") == 0);
  CHECK(read_experiment_text(R"({"tuner": {"name": 5}})").error == "tuner.name: a string expected");
  CHECK(read_experiment_text(R"({"tuner": {"name": "TPE"}, "assessor": 3})")
            .error.find("assessor: an object") == 0);
}

TEST_CASE("a manager that lists no capability is NNI's own, also when the rest cannot be used") {
  const auto is_nni = [](const Outcome& outcome) {
    return outcome.options.configuration.nni_manager;
  };
  CHECK(is_nni(read_experiment_text(R"({"tuner": {"name": "TPE"}})")));
  CHECK(is_nni(read_experiment_text(R"({"tuner": {}})")));
  CHECK(is_nni(read({"--exp_params", "!!notbase64"})));
  CHECK_FALSE(is_nni(read_experiment_text(R"({"capabilities": ["error"]})")));
  const auto unusable = read_experiment_text(R"({"tuner": {}, "capabilities": ["error"]})");
  CHECK_FALSE(unusable.error.empty());
  CHECK_FALSE(is_nni(unusable));
  CHECK(unusable.options.configuration.capabilities.error);
  CHECK_FALSE(is_nni(read({"--tuner", "TPE"})));  // a person
}

TEST_CASE(
    "the tuner knows whether the manager can pause and save, and whether an assessor judges") {
  const auto context = [](const std::string& more) {
    const auto outcome = read_experiment_text(R"({"tuner": {"name": "auto"})" + more + "}");
    CHECK(outcome.error.empty());
    return outcome.options.configuration.context;
  };
  const auto pauses = [&](const std::string& more) { return context(more).pauses; };
  CHECK(pauses(R"(, "capabilities": ["pause", "checkpoint"])"));
  CHECK_FALSE(pauses(R"(, "capabilities": ["pause"])"));
  CHECK_FALSE(pauses(R"(, "capabilities": ["checkpoint"])"));
  CHECK_FALSE(pauses(""));
  CHECK_FALSE(context("").assessed);
  CHECK(context(R"(, "assessor": {"name": "Medianstop"})").assessed);
}

TEST_CASE("objectives: the first one gives tuner and assessor their direction") {
  const auto given = [](const std::string& rest) {
    return read_experiment_text(R"({"objectives": [{"metric": "accuracy", "mode": "maximize"},
                                                   {"metric": "time", "mode": "minimize", "limit": 3}], )" +
                                rest + "}");
  };
  const auto outcome = given(R"("tuner": {"name": "TPE"}, "assessor": {"name": "Medianstop"})");
  CHECK(outcome.error.empty());
  const Configuration& configuration = outcome.options.configuration;
  CHECK(configuration.tuner.arguments == json{{"optimize_mode", "maximize"}});
  CHECK(configuration.assessor->arguments == json{{"optimize_mode", "maximize"}});
  REQUIRE(configuration.context.objectives.size() == 2);
  CHECK(configuration.context.objectives[0].metric == "accuracy");
  CHECK_FALSE(configuration.context.objectives[1].maximize);
  CHECK(configuration.context.objectives[1].limit == 3);
  CHECK(given(R"("tuner": {"name": "TPE", "classArgs": {"optimize_mode": "maximize"}})")
            .error.empty());
  CHECK(given(R"("tuner": {"name": "TPE", "classArgs": {"optimize_mode": "minimize"}})").error ==
        R"(objectives[0].mode is "maximize", but the optimize_mode of TPE is "minimize")");
  CHECK(given(R"("tuner": {"name": "TPE"}, "assessor": {"name": "Medianstop",
                  "classArgs": {"optimize_mode": "minimize"}})")
            .error ==
        R"(objectives[0].mode is "maximize", but the optimize_mode of Medianstop is "minimize")");
}

TEST_CASE("objectives and constraints that cannot be read say where") {
  const auto error = [](const std::string& rest) {
    return read_experiment_text(R"({"tuner": {"name": "TPE"}, )" + rest + "}").error;
  };
  CHECK(error(R"("objectives": [])").starts_with("objectives: a list expected"));
  CHECK(error(R"("objectives": ["a"])") == "objectives[0]: an object expected, not a string");
  CHECK(error(R"("objectives": [{"metric": "a"}])") ==
        R"(objectives[0].mode: "maximize" or "minimize" expected)");
  CHECK(error(R"("objectives": [{"mode": "minimize", "limit": 1}])")
            .starts_with("objectives[0].limit: the first objective is what trials are ranked by"));
  CHECK(error(R"("objectives": [{"mode": "minimize"},
                                {"metric": "a", "mode": "minimize", "limit": "low"}])") ==
        "objectives[1].limit: a number expected");
  CHECK(error(R"("objectives": [{"metric": 1, "mode": "maximize"}])") ==
        "objectives[0].metric: a string expected");
  CHECK(
      error(R"("objectives": [{"mode": "maximize"}, {"metric": "default", "mode": "minimize"}])") ==
      R"(objectives[1]: "default" is an objective already)");
  CHECK(error(R"("constraints": "x < 1")").starts_with("constraints: a list expected"));
  CHECK(error(R"("constraints": ["x < 1", 2])") ==
        "constraints[1]: a string expected, not an integer");
}

TEST_CASE("for humans: options, and unknown ones are errors") {
  const auto outcome = read({"--tuner", "TPE", "--tuner-args", R"({"optimize_mode":"maximize"})",
                             "--assessor", "Medianstop", "--seed", "5", "--in-fd", "0", "--framing",
                             "6", "--drain", "--capabilities", "sync,error"});
  REQUIRE(outcome.error.empty());
  const Configuration& c = outcome.options.configuration;
  CHECK(c.tuner.arguments["optimize_mode"] == "maximize");
  CHECK(c.fallback_seed == 5);
  CHECK(c.in_fd == 0);
  CHECK(c.length_digits == 6);
  CHECK(c.drain);
  CHECK(c.capabilities.sync);
  CHECK(c.log_file.empty());

  CHECK(read({"--tuner", "TPE", "--sed", "5"}).usage.exit_code == 2);
  CHECK(read({"--tuner", "TPE", "--sed", "5"}).usage.text.find("--sed") != std::string::npos);
  CHECK(read({"--tuner", "TPE", "--framing", "7"}).usage.exit_code == 2);
  CHECK(read({"--tuner", "TPE", "--seed", "x"}).usage.exit_code == 2);
  CHECK(read({}).options.configuration.tuner.name == "auto");
  CHECK(read({"--tuner-args", R"({"seed": 3})"}).options.configuration.tuner.arguments["seed"] ==
        3);
  CHECK(read({"--tuner", "TPE", "--tuner-args", "{"}).error.find("--tuner-args: invalid JSON") ==
        0);
  CHECK(read({"--help"}).usage.exit_code == 0);
  CHECK(read({"--help"}).usage.text.find("--exp_params") != std::string::npos);
  CHECK(read({"--version"}).usage.text.find("attuned 0.") == 0);
  CHECK(read({"--list", "--json"}).options.run == Options::Run::list);
  CHECK(read({"--check", "--tuner", "TPE"}).options.run == Options::Run::check);
}

TEST_CASE("every limit has an option, which --help names and --print-config shows") {
  for (const LimitEntry& entry : limit_entries()) {
    const std::string option = std::string("--max-") + entry.name;
    CAPTURE(option);
    for (const std::size_t value : {entry.least, entry.most}) {
      const auto outcome = read({"--tuner", "TPE", option, std::to_string(value)});
      REQUIRE(outcome.error.empty());
      CHECK(outcome.options.configuration.limits.*entry.value == value);
      const json shown = print_config(outcome.options.configuration);
      CHECK(shown["max_" + std::string(entry.name)] == value);
    }
    CHECK(read({"--tuner", "TPE", option, std::to_string(entry.most + 1)}).usage.exit_code == 2);
    CHECK(read({"--tuner", "TPE", option, std::to_string(entry.least - 1)}).usage.exit_code == 2);
    CHECK(read({"--tuner", "TPE", option, "-1"}).usage.exit_code == 2);
    CHECK(read({"--tuner", "TPE", option, "many"}).usage.exit_code == 2);
    CHECK_THAT(read({"--help"}).usage.text, Catch::Contains(option + " "));
  }
  const auto framing = read({"--tuner", "TPE", "--max-payload", "2048"}).options.configuration;
  CHECK(framing.framing().max_payload == 2048);
}

TEST_CASE("the environment of NNI's manager") {
  const auto c = read({"--tuner", "TPE"}, {{"NNI_MODE", "resume"},
                                           {"NNI_CHECKPOINT_DIRECTORY", "/c"},
                                           {"NNI_LOG_DIRECTORY", "/l"},
                                           {"NNI_LOG_LEVEL", "debug"},
                                           {"NNI_INCLUDE_INTERMEDIATE_RESULTS", "true"}})
                     .options.configuration;
  CHECK(c.resume);
  CHECK(c.checkpoint_directory == "/c");
  CHECK(c.log_file == "/l/dispatcher.log");
  CHECK(c.log_level == LogLevel::debug);
  CHECK(c.include_intermediate);

  const auto plain = read({"--tuner", "TPE"}, {{"NNI_MODE", "start"}, {"NNI_LOG_LEVEL", "loud"}})
                         .options.configuration;
  CHECK_FALSE(plain.resume);
  CHECK(plain.log_level == LogLevel::info);
  CHECK(read({"--tuner", "TPE", "--log-level", "loud"}).usage.exit_code == 2);
  CHECK(read({"--exp_params", base64_encode(R"({"tuner":{"name":"TPE"}})")})
            .options.configuration.log_file == "dispatcher.log");
}

}  // namespace attune::options_test
