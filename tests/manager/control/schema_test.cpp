// The check of arguments against the schema that a client has read.
#include "manager/control/schema.h"

#include <catch2/catch.hpp>

namespace attune::schema_test {

const json kSchema = object_schema({{"name", text_schema("")},
                                    {"word", word_schema("", {"one", "two"})},
                                    {"count", integer_schema("", 1, 10)},
                                    {"ratio", number_schema("", 0.5, 2)},
                                    {"flag", flag_schema("")},
                                    {"any", open_object_schema("")},
                                    {"list", list_schema("", integer_schema("", 0, 5), 1, 3)}},
                                   {"name"});

std::string flaw(const std::string& text) {
  INFO(text);
  const auto checked = check_schema(kSchema, parse_json(text).value(), "arguments");
  return checked ? "" : checked.error().message;
}

TEST_CASE("schema: what fits") {
  CHECK(flaw(R"({"name": "n"})") == "");
  CHECK(flaw(R"({"name": "n", "word": "two", "count": 10, "ratio": 0.5, "flag": false,
                 "any": {"x": [1, {}]}, "list": [0, 5, 5]})") == "");
  CHECK(flaw(R"({"name": "n", "count": 5.0, "ratio": 1})") == "");
}

TEST_CASE("schema: what does not fit, by place") {
  CHECK(flaw("[]") == "arguments: an object expected, not an array");
  CHECK(flaw("{}") == "arguments: 'name' is missing");
  CHECK(flaw(R"({"name": 3})") == "arguments.name: a text expected, not an integer");
  CHECK(flaw(R"({"name": ""})") == "arguments.name: a text of 1 to 300 bytes expected");
  CHECK(flaw(R"({"name": ")" + std::string(301, 'n') + "\"}") ==
        "arguments.name: a text of 1 to 300 bytes expected");
  CHECK(flaw(R"({"name": "n", "word": "three"})") == "arguments.word: one of one, two expected");
  for (const std::string count : {"0", "11", "1.5", "1e300", "18446744073709551615", "NaN"})
    CHECK(flaw(R"({"name": "n", "count": )" + count + "}") ==
          "arguments.count: a whole number from 1 to 10 expected");
  CHECK(flaw(R"({"name": "n", "count": "1"})") ==
        "arguments.count: a whole number expected, not a string");
  CHECK(flaw(R"({"name": "n", "ratio": 2.5})") ==
        "arguments.ratio: a number from 0.5 to 2 expected");
  CHECK(flaw(R"({"name": "n", "flag": 1})") ==
        "arguments.flag: true or false expected, not an integer");
  CHECK(flaw(R"({"name": "n", "any": []})") == "arguments.any: an object expected, not an array");
  CHECK(flaw(R"({"name": "n", "list": []})") == "arguments.list: 1 to 3 elements expected, not 0");
  CHECK(flaw(R"({"name": "n", "list": [0, 6]})") ==
        "arguments.list[1]: a whole number from 0 to 5 expected");
  CHECK(flaw(R"({"name": "n", "coutn": 3})") ==
        "arguments: unknown member 'coutn', did you mean 'count'?; known: name, word, count, "
        "ratio, flag, any, list");
}

}  // namespace attune::schema_test
