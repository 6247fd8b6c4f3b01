// JSON in and out: strict text, the dialect of Python managers, limits, and what is rejected.
#include "base/json.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::json_test {

std::string error_of(std::string_view text, const JsonLimits& limits = {}) {
  const auto result = parse_json(text, limits);
  return result ? "accepted: " + dump_json(*result) : result.error().message;
}

std::string nested(int depth, char open, char close) {
  const std::string opening = open == '{' ? R"({"a":)" : "[";
  std::string text;
  for (int i = 0; i < depth; ++i) text += opening;
  if (open == '{') text += "1";
  return text + std::string(static_cast<std::size_t>(depth), close);
}

TEST_CASE("what is written is what was read") {
  const char* text = GENERATE(
      "null", "true", "0", "-0.0", "42", "16.0", "0.1", "1e-05", "1e+22", "5e-324",
      "1.7976931348623157e+308", "0.30000000000000004", "9007199254740993", "-9223372036854775808",
      "18446744073709551615", R"("")", R"("\u4f60\u597d")", R"("\ud83d\ude00")",
      R"("a\"b\\c\n\u0000d")", "[]", "{}", R"([1,[2,[3]]])", R"({"z":1,"a":{"y":2,"b":[]}})");
  CAPTURE(text);
  CHECK(dump_json(parse_json(text).value()) == text);
}

TEST_CASE("numbers keep their kind") {
  CHECK(parse_json("16").value().is_number_integer());
  CHECK(parse_json("16.0").value().is_number_float());
  CHECK(parse_json("9007199254740993").value().get<std::int64_t>() == 9007199254740993);
  const json big = parse_json("123456789012345678901234567890").value();
  CHECK(big.is_number_float());
  CHECK(big.get<double>() == 123456789012345678901234567890.0);
  CHECK(parse_json("1e-400").value().get<double>() == 0);
}

TEST_CASE("the dialect of Python") {
  CHECK(std::isnan(parse_json("NaN").value().get<double>()));
  CHECK(parse_json("Infinity").value().get<double>() == HUGE_VAL);
  CHECK(parse_json("-Infinity").value().get<double>() == -HUGE_VAL);
  CHECK(parse_json("1e400").value().get<double>() == HUGE_VAL);
  CHECK(parse_json("-1E+400").value().get<double>() == -HUGE_VAL);
  CHECK(parse_json("1" + std::string(400, '0')).value().get<double>() == HUGE_VAL);
  CHECK(parse_json("1" + std::string(400, '0') + "e-400").value().get<double>() ==
        Approx(1).epsilon(1e-15));
  CHECK(parse_json("1 # a comment").value() == 1);
  CHECK(parse_json("// first\n{\"a\": 1, # \"b\": 2,\n\"c\": 3}").value() ==
        json::parse(R"({"a":1,"c":3})"));

  const json mixed = parse_json(R"({"default": NaN, "loss": [1e999, -Infinity, 2.5]})").value();
  CHECK(std::isnan(mixed["default"].get<double>()));
  CHECK(mixed["loss"][0].get<double>() == HUGE_VAL);
  CHECK(mixed["loss"][1].get<double>() == -HUGE_VAL);
  CHECK(mixed["loss"][2].get<double>() == 2.5);
}

TEST_CASE("inside a string the dialect is text, even next to a NaN") {
  const json value =
      parse_json(R"({"u": "http://x # y", "n": "NaN Infinity 1e400", "e": "\"// NaN\\", "v": NaN})")
          .value();
  CHECK(value["u"] == "http://x # y");
  CHECK(value["n"] == "NaN Infinity 1e400");
  CHECK(value["e"] == "\"// NaN\\");
  CHECK(std::isnan(value["v"].get<double>()));
}

TEST_CASE("no text can pass for a number of the dialect") {
  // The words that stand for numbers inside the parser, sent by someone else.
  const json value =
      parse_json(R"({"a": "\u0000attune:nan", "b": "\u0000attune:inf", "c": NaN})").value();
  CHECK(value["a"].is_string());
  CHECK(value["b"].is_string());
}

TEST_CASE("keys keep their order, and the last of duplicates wins") {
  CHECK(dump_json(parse_json(R"({"b":1,"a":2,"c":3})").value()) == R"({"b":1,"a":2,"c":3})");
  CHECK(parse_json(R"({"a":1,"b":2,"a":3})").value() == json::parse(R"({"a":3,"b":2})"));
  CHECK(parse_json(R"({"a":1,"b":NaN,"a":3})").value()["a"] == 3);
}

TEST_CASE("limits hold, and what is just inside is accepted") {
  CHECK(parse_json(nested(256, '[', ']')));
  CHECK(parse_json(nested(256, '{', '}')));
  CHECK(error_of(nested(257, '[', ']')) == "JSON nested deeper than 256 levels at byte 256");
  CHECK(error_of(nested(257, '{', '}')) == "JSON nested deeper than 256 levels at byte 1280");
  CHECK(error_of(std::string(1'000'000, '[')) == "JSON nested deeper than 256 levels at byte 256");
  CHECK(parse_json(R"("[[[[[[{{{{{{")", {.depth = 1}));
  CHECK(parse_json("[[1],[2],[3]]", {.depth = 2}));

  CHECK(parse_json(R"({"a":1,"b":2})", {.keys = 2}));
  CHECK(error_of(R"({"a":1,"b":2,"c":3})", {.keys = 2}) ==
        "JSON object with more than 2 keys at byte 16");
  CHECK(parse_json(R"([{"a":1,"b":2},{"c":1,"d":"::::"}])", {.keys = 2}));
}

TEST_CASE("objects have a limit together as finding a key is linear") {
  const std::string full = R"({"a":1,"b":1,"c":1,"d":1})";
  CHECK(parse_json("[" + full + "," + full + "]", {.keys = 4}));
  CHECK(error_of("[" + full + "," + full + "," + full + "]", {.keys = 4}) ==
        "JSON with objects that are more work than two of 4 keys at byte 57");
  std::string small = "[";
  for (int i = 0; i < 10; ++i) small += R"({"a":1},)";
  CHECK(parse_json(small + "1]", {.keys = 4}));
}

TEST_CASE("strings, arrays and values have limits where they are asked for") {
  const JsonLimits limits{.string_bytes = 4, .elements = 3, .values = 8};
  CHECK(parse_json(R"("1234")", limits));
  CHECK(error_of(R"("12345")", limits) == "JSON with a string of more than 4 bytes at byte 0");
  CHECK(error_of(R"({"12345":1})", limits) == "JSON with a string of more than 4 bytes at byte 1");
  CHECK(error_of(R"(["a","\u0041"])", limits) ==
        "JSON with a string of more than 4 bytes at byte 5");
  CHECK(error_of("\"" + std::string(1 << 20, 'x'), limits).starts_with("JSON with a string"));
  CHECK(parse_json("[1,2,3]", limits));
  CHECK(error_of("[1,2,3,4]", limits) == "JSON array with more than 3 elements at byte 6");
  CHECK(parse_json(R"(["a,b,c,d"])", {.elements = 1}));
  CHECK(parse_json("[[1,2],[3,4]]", {.values = 7}));
  CHECK(error_of("[[1,2],[3,4]]", {.values = 6}) == "JSON with more than 6 values at byte 9");
  // Arrays within the limit cannot add up to more than the values.
  std::string many = "[";
  for (int i = 0; i < 1000; ++i) many += "[],";
  CHECK(error_of(many + "[]]", {.elements = 10'000, .values = 1000}).starts_with("JSON with more"));
  // In the dialect of Python, too.
  CHECK(error_of("[NaN,2,3,4]", limits) == "JSON array with more than 3 elements at byte 8");
  CHECK(parse_json("[1,2,3] # ,,,,,", limits));
  // Without being asked for, there are none.
  CHECK(parse_json("\"" + std::string(1 << 20, 'x') + "\""));
}

TEST_CASE("what a value holds in memory") {
  CHECK(memory_of(json(1.5)) == 0);
  CHECK(memory_of(json(std::string(1000, 'x'))) >= 1000);
  const json list = json::array({1, 2, 3});
  CHECK(memory_of(list) >= 3 * sizeof(json));
  CHECK(memory_of(json{{"a", list}, {"b", list}}) >= 2 * memory_of(list));
}

TEST_CASE("brackets in comments do not count, quotes in comments do not open strings") {
  CHECK(parse_json("1 # [[[[", {.depth = 2}));
  // A quote in a comment must not hide what follows from the limits.
  const std::string hidden = "# \"\n" + nested(1000, '[', ']');
  CHECK(error_of(hidden, {.depth = 256}).starts_with("JSON nested deeper than 256"));
}

TEST_CASE("errors name the byte and show the text around it") {
  CHECK(error_of("{nope") == "invalid JSON at byte 2: expected string literal, near '{nope'");
  CHECK(error_of("").starts_with("invalid JSON at byte 0"));
  const std::string message = error_of(R"({"lr": 0.1, "momentum": 0.9, "batch" 32})");
  CHECK(message.starts_with("invalid JSON at byte 38: expected ':', near "));
  CHECK(message.find(R"("batch" 32})") != message.npos);
}

TEST_CASE("malformed text is an error, never a guess") {
  const char* text = GENERATE("", " ", "{", "}", "[1,", "[1,]", R"({"a":1,})", R"({"a"})",
                              R"({a:1})", "'a'", "nul", "True", "01", "+1", "1.", ".5", "--1", "1e",
                              "0x10", "1 2", "NaNa", "Inf", "+Infinity", "--Infinity", R"("\x41")",
                              R"("\u12")", R"("open)", "\"tab\there\"", "/* c */ 1", "# only",
                              R"("a)"
                              "\\");
  CAPTURE(text);
  CHECK_FALSE(parse_json(text));
}

TEST_CASE("invalid UTF-8 is rejected on input and replaced on output") {
  const char* bytes =
      GENERATE("\"\xff\"", "\"\xc3\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"");
  const auto result = parse_json(bytes);
  REQUIRE_FALSE(result);
  // The message itself must be printable anywhere.
  for (const char c : result.error().message) CHECK((c >= 0x20 && c < 0x7f));
  CHECK(dump_json(json("a\xff"
                       "b")) == "\"a\\ufffdb\"");
  CHECK_FALSE(parse_json(R"("\ud800")"));
}

TEST_CASE("output is pure ASCII and never NaN") {
  CHECK(dump_json(json(std::nan(""))) == "null");
  CHECK(dump_json(json(HUGE_VAL)) == "null");
  CHECK(dump_json(json("é\x7f")) == R"("\u00e9\u007f")");
  CHECK(dump_json(json(16.0)) == "16.0");
  CHECK(dump_json(json(1e16)) == "1e+16");
}

TEST_CASE("a byte-order mark is tolerated") {
  CHECK(parse_json("\xef\xbb\xbf[1]").value()[0] == 1);
}

TEST_CASE("every value has a name for messages") {
  CHECK(json_type_name(json()) == "null");
  CHECK(json_type_name(json(true)) == "a boolean");
  CHECK(json_type_name(json(1)) == "an integer");
  CHECK(json_type_name(json(1U)) == "an integer");
  CHECK(json_type_name(json(1.5)) == "a number");
  CHECK(json_type_name(json("x")) == "a string");
  CHECK(json_type_name(json::array()) == "an array");
  CHECK(json_type_name(json::object()) == "an object");
}

}  // namespace attune::json_test
