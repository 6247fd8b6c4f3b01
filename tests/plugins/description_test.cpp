// What a plug-in says of its algorithms, and every message with which it is refused.
#include "plugins/description.h"

#include <catch2/catch.hpp>

namespace attune::description_test {

std::string error_of(const std::string& text) {
  const auto read = read_descriptions(parse_json(text).value());
  if (read) return "no error";
  CHECK(!read.error().place.empty());
  return read.error().message;
}

// Of a tuner with one argument.
std::string error_of_argument(const std::string& text) {
  return error_of(R"([{"kind":"tuner","name":"T","arguments":[)" + text + "]}]");
}

TEST_CASE("a description: everything that can be said") {
  const auto all = read_descriptions(parse_json(R"([
      {"kind": "tuner", "name": "Mine", "summary": "Draws", "optimize_mode": "maximize",
       "wants_reports": true, "saves": true,
       "arguments": [
         {"name": "n", "type": "integer", "default": 3, "low": 1, "high": 9, "help": "how many"},
         {"name": "how", "type": "choice", "choices": ["a", "b"], "default": "b"},
         {"name": "deep", "type": "object", "members": [{"name": "seed", "type": "text"}]}]},
      {"kind": "assessor", "name": "mine"}])")
                                         .value())
                       .value();
  REQUIRE(all.size() == 2);
  CHECK((all[0].name == "Mine" && all[0].summary == "Draws" && all[0].maximizes));
  CHECK((all[0].wants_reports && all[0].saves));
  REQUIRE(all[0].arguments.size() == 3);
  const json resolved = resolve_arguments("Mine", all[0].arguments, {{"n", 4}}).value();
  CHECK(dump_json(resolved) == R"({"n":4,"how":"b","deep":{"seed":null}})");
  CHECK(!resolve_arguments("Mine", all[0].arguments, {{"n", 10}}));
  CHECK(all[1].kind == PluginDescription::Kind::assessor);
  CHECK((!all[1].maximizes && !all[1].wants_reports && !all[1].saves));
}

TEST_CASE("a description: mistakes have a place") {
  CHECK(error_of("{}") == "algorithms: must be an array of 1 to 1000 objects");
  CHECK(error_of("[]") == "algorithms: must be an array of 1 to 1000 objects");
  CHECK(error_of("[3]") == "algorithms[0]: must be an object, not an integer");
  CHECK(error_of(R"([{"kind":"tuner","name":"a"},{"kind":"tunr","name":"b"}])") ==
        R"(algorithms[1].kind: must be "tuner" or "assessor", not "tunr")");
  CHECK(error_of(R"([{"kind":"tuner","name":"a"},{"kind":"tuner","name":"A"}])") ==
        "algorithms[1].name: an earlier algorithm has the name A");
  CHECK(error_of(R"([{"kind":"tuner"}])") == "algorithms[0].name: a text is missing");
  CHECK(error_of(R"([{"kind":"tuner","name":"a b"}])").starts_with("algorithms[0].name: the name"));
  CHECK(error_of(R"([{"kind":"tuner","name":"a","sumary":""}])")
            .starts_with(R"(algorithms[0]: unknown member "sumary"; did you mean "summary"?)"));
  CHECK(error_of(R"([{"kind":"tuner","name":"a","saves":1}])") ==
        "algorithms[0].saves: must be true or false, not an integer");
  CHECK(error_of(R"([{"kind":"tuner","name":"a","summary":"\u001b[2J"}])")
            .starts_with("algorithms[0].summary: "));
  CHECK(error_of(R"([{"kind":"tuner","name":"a","optimize_mode":"max"}])") ==
        R"(algorithms[0].optimize_mode: must be "maximize" or "minimize")");
}

TEST_CASE("a description: mistakes of an argument have a place") {
  const std::string at = "algorithms[0].arguments[0]";
  CHECK(error_of_argument(R"({"name":"n","type":"numbr"})") ==
        at + R"(.type: unknown type "numbr"; did you mean "number"?)");
  CHECK(error_of_argument(R"({"name":"seed","type":"integer"})") ==
        at + ".name: seed is an argument of every algorithm");
  CHECK(error_of_argument(R"({"name":"n","type":"integer","default":0,"low":1})") ==
        at + ".default: an integer of at least 1 expected, not 0");
  CHECK(error_of_argument(R"({"name":"n","type":"integer","choices":["a"]})") ==
        at + ".choices: belongs to the type choice, and to no other");
  CHECK(error_of_argument(R"({"name":"n","type":"object"})") ==
        at + ".members: belongs to the type object, and to no other");
  CHECK(error_of_argument(R"({"name":"n","type":"number"},{"name":"n","type":"number"})") ==
        "algorithms[0].arguments[1].name: an earlier argument has the name n");
  CHECK(error_of(R"([{"kind":"tuner","name":"T","any_arguments":true,
                      "arguments":[{"name":"n","type":"number"}]}])") ==
        "algorithms[0].arguments: must be missing with any_arguments");
  std::string deep = R"({"name":"n","type":"text"})";
  for (int i = 0; i < 9; ++i)
    deep.insert(0, R"({"name":"n","type":"object","members":[)").append("]}");
  CHECK(error_of_argument(deep).ends_with(": too deep"));
}

}  // namespace attune::description_test
