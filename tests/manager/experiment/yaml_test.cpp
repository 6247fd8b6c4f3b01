// What YAML means here, and what it may cost.
#include "manager/experiment/yaml.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

namespace attune::yaml_test {

TEST_CASE("yaml: scalars mean what YAML 1.2 says") {
  struct Row {
    std::string text, json;
  };
  const Row row = GENERATE(values<Row>({
      {"1", "1"},
      {"-7", "-7"},
      {"+7", "7"},
      {"1.5", "1.5"},
      {".5", "0.5"},
      {"1e-5", "1e-05"},
      {"1.0", "1.0"},
      {"0x1F", "31"},
      {"0o17", "15"},
      {"18446744073709551615", "18446744073709551615"},
      {"true", "true"},
      {"False", "false"},
      {"yes", "\"yes\""},
      {"on", "\"on\""},
      {"no", "\"no\""},
      {"'true'", "\"true\""},
      {"\"1\"", "\"1\""},
      {"1:30", "\"1:30\""},
      {"1_000", "\"1_000\""},
      {"null", "null"},
      {"~", "null"},
      {"''", "\"\""},
      {"inf", "\"inf\""},
      {"nan", "\"nan\""},
      {".inf", "null"},  // as dump_json writes infinity
      {"1.2.3", "\"1.2.3\""},
      {"e5", "\"e5\""},
      {"-", "[null]"},
      {"!!str 5", "\"5\""},
      {"{\"a\": \"\\u00e9\\ud83d\\ude00\"}", "{\"a\":\"\\u00e9\\ud83d\\ude00\"}"},
      {"[1, [2, {a: 3}]]", "[1,[2,{\"a\":3}]]"},
      {"|\n  a\n  b\n", "\"a\\nb\\n\""},
  }));
  CAPTURE(row.text);
  const auto document = parse_yaml(row.text, "f");
  if (!document) FAIL(document.error().message);
  CHECK(dump_json(document->value) == row.json);
}

TEST_CASE("yaml: hostile documents are refused") {
  std::string deep(5000, '[');
  CHECK_FALSE(parse_yaml(deep, "f").has_value());
  std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += fmt::format(
        "a{0}: &a{0} [*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1}]\n", i, i - 1);
  }
  CHECK_FALSE(parse_yaml(bomb, "f").has_value());
  const auto second = parse_yaml("a: 1\n---\nb: 2\n", "f");
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().message == "f:2:1: there is a second document; only one is possible");
  CHECK(parse_yaml("# begin\n%YAML 1.2\n---\na: 1\nb: ---\nc: |\n  ---\n", "f").has_value());
  const auto long_key = parse_yaml("a: 1\n? " + std::string(1025, 'k') + "\n: 2\n", "f");
  REQUIRE_FALSE(long_key.has_value());
  CHECK(long_key.error().message.find("f:2:3: a key of more than 1024 bytes; shorten it") == 0);
}

TEST_CASE("yaml: a mapping has as many keys as an object of JSON") {
  const auto keys = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("k{}: 1\n", i);
    return parse_yaml(text, "f");
  };
  CHECK(keys(20'000).has_value());
  const auto more = keys(20'001);
  REQUIRE_FALSE(more.has_value());
  CHECK(more.error().message.find("f:20001:1: more than 20000 keys in one place") == 0);
}

// Each value would keep the path of all that is above it.
TEST_CASE("yaml: lines of what stands deep cost no more memory than the file") {
  std::string text;
  for (std::size_t depth = 0; depth < 100; ++depth)
    text += std::string(2 * depth, ' ') + std::string(1000, 'k') + ":\n";
  text += std::string(200, ' ') + "[";
  for (int i = 0; i < 50'000; ++i) text += "1, ";
  text += "1]\n";
  const auto document = parse_yaml(text, "f");
  if (!document) FAIL(document.error().message);
  std::size_t bytes = 0;
  for (const auto& [path, mark] : document->marks) bytes += path.size();
  CHECK(bytes < 16u << 20);
  CHECK(document->mark(std::string(1000, 'k') + "." + std::string(1000, 'k') + ".x").line == 2);
}

}  // namespace attune::yaml_test
