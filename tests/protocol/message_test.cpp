#include "protocol/message.h"

#include <catch2/catch.hpp>

namespace attune {
namespace {

TEST_CASE("the first message shows the dialect") {
  CHECK(dialect_of(R"(IN{"x":1})") == Dialect::text);
  CHECK(dialect_of(R"({"type":"IN","content":"{}"})") == Dialect::json);
  CHECK(dialect_of("") == Dialect::text);
}

TEST_CASE("messages of NNI 2.8 and 3.0") {
  CHECK(decode_message(Dialect::text, "GE2") == Frame{"GE", "2"});
  CHECK(decode_message(Dialect::text, "TE") == Frame{"TE", ""});
  CHECK(decode_message(Dialect::json, R"({"type":"GE","content":"2"})") == Frame{"GE", "2"});
  CHECK(decode_message(Dialect::json, R"({"type":"TE"})") == Frame{"TE", ""});
  CHECK(decode_message(Dialect::json, R"({"type":"_bye_","reason":"TE command"})") ==
        Frame{"_bye_", ""});
  CHECK(decode_message(Dialect::json, R"({"type":"_nop_"})") == Frame{"_nop_", ""});
  CHECK(encode_message(Dialect::text, {"TR", "{}"}) == "TR{}");
  CHECK(encode_message(Dialect::json, {"ID", ""}) == R"({"type":"ID","content":""})");
  CHECK(encode_message(Dialect::json, {"_bye_", ""}) == R"({"type":"_bye_"})");
}

TEST_CASE("what is written is read back as the same") {
  const auto dialect = GENERATE(Dialect::text, Dialect::json);
  const auto payload = GENERATE(R"({"parameters": {"x": "\"q\"", "é": "你好"}})", "", "a\nb\\");
  CHECK(decode_message(dialect, encode_message(dialect, {"TR", payload})) == Frame{"TR", payload});
}

TEST_CASE("bad messages are named") {
  struct Row {
    Dialect dialect;
    std::string message, error;
  };
  const auto row = GENERATE(values<Row>({
      {Dialect::text, "", "a command of two letters expected"},
      {Dialect::text, "G", "a command of two letters expected"},
      {Dialect::json, "[1]", "an object expected, not an array"},
      {Dialect::json, R"({"content":"2"})", "\"type\" with a command is missing"},
      {Dialect::json, R"({"type":7})", "\"type\" with a command is missing"},
      {Dialect::json, R"({"type":"_hello_"})", "unknown type \"_hello_\""},
      {Dialect::json, R"({"type":"GE","content":2})", "\"content\": a string expected"},
      {Dialect::json, R"({"type":"GE")", "JSON"},
  }));
  CAPTURE(row.message);
  const auto frame = decode_message(row.dialect, row.message);
  REQUIRE_FALSE(frame);
  CHECK(frame.error().message.find(row.error) != std::string::npos);
}

}  // namespace
}  // namespace attune
