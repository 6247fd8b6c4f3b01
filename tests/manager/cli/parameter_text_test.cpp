// The parameters of the best trials for other programs.
#include "manager/cli/commands/parameter_text.h"

#include <stdio.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "manager/experiment/yaml.h"
#include "tests/manager/cli/printed.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::parameter_text_test {

const json kParameters = {{"lr", 0.1},
                          {"units", 32},
                          {"flag", true},
                          {"name", "it's $HOME `id` \"x\"\\"},
                          {"layers", {64, 32}},
                          {"none", nullptr},
                          {"optimizer", {{"_name", "sgd"}, {"momentum", 0.9}}}};

std::string text_of(const json& parameters, const std::string& format) {
  const auto text = parameter_text(parameters, format);
  INFO((text ? "" : text.error().message));
  REQUIRE(text.has_value());
  return *text;
}

// What a shell prints for a script.
std::string said_by_shell(const std::string& script) {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "script") << script;
  FILE* pipe = ::popen(("sh " + (folder.path / "script").string()).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string said;
  for (int c = ::fgetc(pipe); c != EOF; c = ::fgetc(pipe)) said += static_cast<char>(c);
  CHECK(::pclose(pipe) == 0);
  return said;
}

TEST_CASE("parameters: as arguments") {
  CHECK(text_of({{"lr", 0.1}, {"units", 32}}, "args") == "--lr 0.1 --units 32\n");
  const std::string line = text_of(kParameters, "args");
  CHECK(contains(line, " --optimizer sgd --optimizer.momentum 0.9\n"));
  CHECK(contains(line, " --none '' "));
  CHECK(said_by_shell("printf '%s|' " + line) ==
        "--lr|0.1|--units|32|--flag|true|--name|it's $HOME `id` \"x\"\\|--layers|[64,32]|--none||"
        "--optimizer|sgd|--optimizer.momentum|0.9|");
  CHECK(said_by_shell("printf '%s|' " + text_of({{"a b; id", "x\ny"}}, "args")) ==
        "--a b; id|x\ny|");
}

TEST_CASE("parameters: as variables of a shell") {
  const std::string line = text_of(kParameters, "env");
  CHECK(line.starts_with("export PARAM_LR=0.1 PARAM_UNITS=32 "));
  CHECK(said_by_shell(line + "printf '%s|' \"$PARAM_NAME\" \"$PARAM_OPTIMIZER_MOMENTUM\"") ==
        "it's $HOME `id` \"x\"\\|0.9|");
  // What a shell goes by cannot be set.
  CHECK(text_of({{"path", "/tmp"}, {"x;id", 1}}, "env") == "export PARAM_PATH=/tmp PARAM_X_ID=1\n");
  CHECK(contains(
      parameter_text({{"a.b", 1}, {"a", {{"_name", "c"}, {"b", 2}}}}, "env").error().message,
      "\"a.b\" and \"a.b\" would both be PARAM_A_B"));
  CHECK(contains(parameter_text({{"a", std::string("x\0y", 3)}}, "env").error().message,
                 "parameter \"a\" has a byte 0"));
}

TEST_CASE("parameters: as JSON and YAML") {
  CHECK(parse_json(text_of(kParameters, "json")).value() == kParameters);
  CHECK(text_of({{"lr", 0.1}, {"layers", {64, 32}}, {"o", {{"_name", "sgd"}}}}, "yaml") ==
        "lr: 0.1\nlayers: [64, 32]\no:\n  _name: sgd\n");
}

TEST_CASE("yaml: what is written is read as the same") {
  for (const json& value :
       {kParameters,
        json::object(),
        json::array(),
        json("yes"),
        json("1:30"),
        json("0.5"),
        json("a: b # c"),
        json("two\nlines\n"),
        json(" x"),
        json("- x"),
        json("null"),
        json("~"),
        json("\u00e9\u4e16"),
        json(""),
        json("tab\t\x01"),
        json("..."),
        json("2020-01-01"),
        json(1e-5),
        json(-3),
        json(std::int64_t{9007199254740993}),
        json(INFINITY),
        json(-INFINITY),
        json{{"on", {{"a", json::array()}, {"b", json::object()}}}, {"3", {{{"x", {1, {2}}}}, 4}}},
        json{{std::string(2000, 'k').substr(0, 900), "trialCommand: |"}}}) {
    INFO(value);
    const std::string text = yaml_text(value);
    INFO(text);
    const auto read = parse_yaml(text, "x");
    REQUIRE(read.has_value());
    CHECK(read->value == value);
  }
  CHECK(std::isnan(parse_yaml(yaml_text(json(std::nan(""))), "x")->value.get<double>()));
  CHECK(yaml_text(json{{"answer", "yes"}}) == "answer: \"yes\"\n");
}

TEST_CASE("views: best prints parameters for other programs") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  for (const double score : {0.5, 0.75}) {
    TrialRecord trial = pending_trial(score == 0.5 ? 0 : 1);
    trial.proposed.parameters = {{"lr", score}};
    store.add_trial(trial, 1001).value();
    trial.status = TrialStatus::succeeded;
    trial.final_metric = {{"accuracy", score}};
    store.change_trial(trial).value();
  }
  store.commit().value();
  BestOptions options;
  options.which.directory = folder.path.string();
  options.format = "args";
  CHECK(printed(options) == "--lr 0.75\n");
  options.count = 2;
  CHECK(printed(options) == "--lr 0.75\n--lr 0.5\n");
  options.format = "yaml";
  CHECK(printed(options) == "lr: 0.75\n---\nlr: 0.5\n");
  options.format = "json";
  CHECK(printed(options) == "{\"lr\":0.75}\n{\"lr\":0.5}\n");
}

}  // namespace attune::parameter_text_test
