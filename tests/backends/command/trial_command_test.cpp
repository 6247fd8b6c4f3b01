#include "backends/command/trial_command.h"

#include <catch2/catch.hpp>

namespace attune::trial_command_test {

constexpr char kText[] =
    R"({"parameter_id": 3, "parameters": {"lr": 1e-5, "n": 3, "name": "a \"b\" $(c); 'd'", "flag": true,
        "none": null, "list": [1, "x"], "half": 16.0}})";

std::vector<std::string> after_script(const TrialCommand& command) {
  return {command.arguments.begin() + 4, command.arguments.end()};
}

TEST_CASE("trial command: without arguments it is what the user wrote") {
  const auto command = trial_command("a | b # c", {}, TrialArguments::none, "no JSON", "/f");
  REQUIRE(command.has_value());
  REQUIRE(command->arguments.size() == 3);
  CHECK(command->arguments[1] == "-c");
  CHECK(command->arguments[2] == "a | b # c");
  CHECK(command->config.empty());
}

TEST_CASE("trial command: parameters become words that the shell does not read again") {
  const auto command = trial_command("train \n", {}, TrialArguments::command_line, kText, "/f");
  REQUIRE(command.has_value());
  CHECK(command->arguments[2] == "train \"$@\"");
  CHECK(after_script(*command) ==
        std::vector<std::string>{"--lr", "1e-05", "--n", "3", "--name", "a \"b\" $(c); 'd'",
                                 "--flag", "true", "--none", "null", "--list", "[1,\"x\"]",
                                 "--half", "16.0", "--st_checkpoint_dir", "/f/checkpoint"});
}

TEST_CASE("trial command: for Syne Tune's scripts True, False and None are Python's") {
  const auto command = trial_command(
      "train", {}, TrialArguments::python_line,
      R"({"parameters": {"a": true, "b": false, "c": null, "d": "true", "e": 1.5}})", "/f");
  REQUIRE(command.has_value());
  CHECK(after_script(*command) == std::vector<std::string>{"--a", "True", "--b", "False", "--c",
                                                           "None", "--d", "true", "--e", "1.5",
                                                           "--st_checkpoint_dir", "/f/checkpoint"});
}

TEST_CASE("trial command: a command with pipes says where the arguments belong") {
  const auto command =
      trial_command("train \"$@\" | tee log", {}, TrialArguments::command_line, kText, "/f");
  REQUIRE(command.has_value());
  CHECK(command->arguments[2] == "train \"$@\" | tee log");
}

TEST_CASE("trial command: the parameters as a file") {
  const auto command = trial_command("train", {}, TrialArguments::json_file, kText, "/f");
  REQUIRE(command.has_value());
  CHECK(after_script(*command) == std::vector<std::string>{"--st_config_json_filename",
                                                           "/f/config.json", "--st_checkpoint_dir",
                                                           "/f/checkpoint"});
  CHECK(
      command->config ==
      R"({"lr":1e-05,"n":3,"name":"a \"b\" $(c); 'd'","flag":true,"none":null,"list":[1,"x"],"half":16.0})");
}

TEST_CASE("trial command: a configuration without parameters is an error") {
  const std::string text = GENERATE("", "[]", "{}", R"({"parameters": 3})");
  CHECK_FALSE(trial_command("train", {}, TrialArguments::command_line, text, "/f").has_value());
  CHECK_FALSE(trial_command("train", {}, TrialArguments::json_file, text, "/f").has_value());
}

}  // namespace attune::trial_command_test
