#include "protocol/message.h"

#include <catch2/catch.hpp>

namespace attune::message_test {

TEST_CASE("the first message shows the dialect") {
  CHECK(dialect_of(R"(IN{"x":1})") == Dialect::v2);
  CHECK(dialect_of(R"({"type":"IN","content":"{}"})") == Dialect::v3);
  CHECK(dialect_of("") == Dialect::v2);
}

TEST_CASE("messages of NNI 2.8 and 3.0") {
  CHECK(decode_message(Dialect::v2, "GE2") == Frame{"GE", "2"});
  CHECK(decode_message(Dialect::v2, "TE") == Frame{"TE", ""});
  CHECK(decode_message(Dialect::v3, R"({"type":"GE","content":"2"})") == Frame{"GE", "2"});
  CHECK(decode_message(Dialect::v3, R"({"type":"TE"})") == Frame{"TE", ""});
  CHECK(decode_message(Dialect::v3, R"({"type":"_bye_","reason":"TE command"})") ==
        Frame{"_bye_", ""});
  CHECK(decode_message(Dialect::v3, R"({"type":"_nop_"})") == Frame{"_nop_", ""});
  CHECK(encode_message(Dialect::v2, {"TR", "{}"}) == "TR{}");
  CHECK(encode_message(Dialect::v3, {"ID", ""}) == R"({"type":"ID","content":""})");
  CHECK(encode_message(Dialect::v3, {"_bye_", ""}) == R"({"type":"_bye_"})");
}

TEST_CASE("what is written is read back as the same") {
  const auto dialect = GENERATE(Dialect::v2, Dialect::v3);
  const auto payload = GENERATE(R"({"parameters": {"x": "\"q\"", "é": "你好"}})", "", "a\nb\\");
  CHECK(decode_message(dialect, encode_message(dialect, {"TR", payload})) == Frame{"TR", payload});
}

TEST_CASE("bad messages are named") {
  struct Row {
    Dialect dialect;
    std::string message, error;
  };
  const auto row = GENERATE(values<Row>({
      {Dialect::v2, "", "a command of two letters expected"},
      {Dialect::v2, "G", "a command of two letters expected"},
      {Dialect::v3, "[1]", "an object expected, not an array"},
      {Dialect::v3, R"({"content":"2"})", "\"type\" with a command is missing"},
      {Dialect::v3, R"({"type":7})", "\"type\" with a command is missing"},
      {Dialect::v3, R"({"type":"_hello_"})", "unknown type \"_hello_\""},
      {Dialect::v3, R"({"type":"GE","content":2})", "\"content\": a string expected"},
      {Dialect::v3, R"({"type":"GE")", "JSON"},
  }));
  CAPTURE(row.message);
  const auto frame = decode_message(row.dialect, row.message);
  REQUIRE_FALSE(frame);
  CHECK(frame.error().message.find(row.error) != std::string::npos);
}

}  // namespace attune::message_test
