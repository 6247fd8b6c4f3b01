#include "plugins/process/spec.h"

#include <catch2/catch.hpp>

namespace attune::spec_test {

std::string error_of(const json& spec) {
  const auto read = read_process_spec(spec);
  return read ? "no error" : read.error().message;
}

TEST_CASE("how a program is started: a line, or an object") {
  const auto line = read_process_spec("python3 'my tuner.py'").value();
  CHECK(line.command == std::vector<std::string>{"python3", "my tuner.py"});
  CHECK(line.timeout == 60);
  CHECK(command_text(line) == "python3 my tuner.py");
  const json object = {{"command", {"./mine", "$x"}},
                       {"timeout", 2.5},
                       {"environment", {{"A", "b=c"}}},
                       {"directory", "/tmp"}};
  const auto read = read_process_spec(object).value();
  CHECK(read.command == std::vector<std::string>{"./mine", "$x"});
  CHECK((read.timeout == 2.5 && read.directory == "/tmp"));
  CHECK(read.environment == std::vector{std::pair<std::string, std::string>("A", "b=c")});
  CHECK(read_process_spec({{"command", "a b"}}).value().command.size() == 2);
}

TEST_CASE("how a program is started: mistakes") {
  CHECK(error_of("a 'b") == "command: ' without its end");
  CHECK(error_of(3) == "command: must be a command line or a list of words");
  CHECK(error_of({{"command", {"a", 3}}}) == "command: each word must be a text, not an integer");
  const std::string null("a\0b", 3);
  CHECK(error_of(null) == "command: a word has a null byte");
  CHECK(error_of({{"command", {"a", null}}}) == "command: a word has a null byte");
  CHECK(error_of({{"command", "a"}, {"directory", null}}) == "directory: has a null byte");
  CHECK(error_of({{"command", json::array({""})}}) == "command: the name of the program is empty");
  CHECK(error_of({{"command", "a"}, {"timeout", 0}}).starts_with("timeout: must be above 0"));
  CHECK(error_of({{"command", "a"}, {"timeout", "1 h"}}).starts_with("plug-in.timeout: must be"));
  CHECK(
      error_of({{"command", "a"}, {"environment", {{"A=", "b"}}}}).starts_with("environment.A=: "));
  CHECK(error_of({{"command", "a"}, {"environment", {{"A", 1}}}}) ==
        "environment.A: must be a text");
  CHECK(error_of({{"command", "a"}, {"time", 1}}).starts_with(R"(plug-in: unknown member "time")"));
}

}  // namespace attune::spec_test
