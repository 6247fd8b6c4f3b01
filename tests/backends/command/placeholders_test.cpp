#include "backends/command/placeholders.h"

#include <catch2/catch.hpp>

namespace attune::placeholders_test {

const ParameterNames kNames({"lr", "depth", "optimizer", "optimizer._name", "optimizer.lr"});

// The pieces as one text, parameters in angle brackets.
std::string shown(const std::string& text, Braces braces = Braces::of_file) {
  const auto pieces = split_placeholders(text, kNames, braces);
  if (!pieces) return "error: " + pieces.error().message;
  std::string result;
  for (const TextPiece& piece : *pieces)
    result += piece.is_parameter ? "<" + piece.text + ">" : piece.text;
  return result;
}

TEST_CASE("placeholders: what is one and what is not") {
  CHECK(shown("solve --lr {lr} --d={depth}") == "solve --lr <lr> --d=<depth>");
  CHECK(shown("{lr}{depth}") == "<lr><depth>");
  CHECK(shown("{optimizer.lr} {optimizer._name}") == "<optimizer.lr> <optimizer._name>");
  CHECK(shown("${lr} {{lr}} {lr") == "${lr} {lr} {lr");
  CHECK(shown("${lr:-3} ${lr:1} {lr: 1} { echo lr; } {  }") ==
        "${lr:-3} ${lr:1} {lr: 1} { echo lr; } {  }");
  CHECK(shown("awk '{print $1}' {a,b} {1..3} {}") == "awk '{print $1}' {a,b} {1..3} {}");
  CHECK(shown(R"({"a": {lr}, "b": {"c": {depth}}})") == R"({"a": <lr>, "b": {"c": <depth>}})");
  CHECK(shown("{{other}} {{") == "{{other}} {{");
  CHECK(shown("{{other}} {{lr}} {{ {{.Names}}", Braces::of_command) ==
        "{other} {lr} {{ {{.Names}}");
}

TEST_CASE("placeholders: a word that is no parameter is an error in a command") {
  const auto error_of = [](const std::string& text) {
    const auto checked = check_placeholders(text, kNames);
    return checked ? "" : checked.error().message;
  };
  CHECK(error_of("solve --lr {learning_rate} {depth}") ==
        "{learning_rate} is no parameter; the search space has depth, lr, optimizer, "
        "optimizer._name, optimizer.lr (for the text itself write {{learning_rate}})");
  CHECK(error_of("a\nawk '{print}'").starts_with("line 2: {print} is no parameter"));
  CHECK(
      error_of("{dept} {lr} {x} {x}") ==
      "{dept} is no parameter; did you mean {depth}? (For the text itself write {{dept}}.); {x} is "
      "no parameter; the search space has depth, lr, optimizer, optimizer._name, optimizer.lr "
      "(for the text itself write {{x}})");
  for (const char* fine :
       {"{lr} {optimizer.lr}", "{{print}} ${HOME} \\{x}", "awk '{print $1}' {a,b} {1..3} {} { x; }",
        "docker ps --format '{{.Names}}'", R"(echo '{"a": {lr}}')", "{", "{lr"})
    CHECK(error_of(fine) == "");
}

TEST_CASE("placeholders: a name that is nearly one is an error with the cure") {
  CHECK(shown("{dept}") ==
        "error: {dept} is no parameter; did you mean {depth}? (For the text itself write "
        "{{dept}}.)");
  CHECK(shown("{{dept}}") == "{dept}");
  CHECK(shown("{_name}").starts_with(
      "error: {_name} is no parameter; did you mean {optimizer._name}"));
  CHECK(shown("{ lr }").starts_with("error: { lr } is no parameter; did you mean {lr}?"));
  CHECK(shown("{lr:.3f}").starts_with("error: {lr:.3f} is no parameter; did you mean {lr}?"));
  CHECK(shown("{lr!r}").starts_with("error: {lr!r} is no parameter; did you mean {lr}?"));
  CHECK(shown("{{ lr }} {{lr:.3f}}") == "{ lr } {lr:.3f}");
  CHECK(shown("a\nb {optimizer.lR}").starts_with("error: line 2: {optimizer.lR} is no"));
}

TEST_CASE("placeholders: values are texts as they are, and JSON of everything else") {
  const auto values = parameter_values(
      R"({"parameters": {"lr": 1e-5, "depth": 3, "flag": true, "half": 16.0, "none": null,
          "name": "a \"b\"\n", "optimizer": {"_name": "adam", "lr": 0.5}, "list": [1, "x"]}})");
  REQUIRE(values.has_value());
  const auto text = [&](const char* name) { return value_as_text(*values, name); };
  CHECK(text("lr") == "1e-05");
  CHECK(text("depth") == "3");
  CHECK(text("flag") == "true");
  CHECK(text("half") == "16.0");
  CHECK(text("none") == "null");
  CHECK(text("name") == "a \"b\"\n");
  CHECK(text("optimizer._name") == "adam");
  CHECK(text("optimizer.lr") == "0.5");
  CHECK(text("list") == R"([1,"x"])");
  CHECK(text("optimizer.momentum").empty());  // of another branch
  CHECK(fill_in("{lr}/{depth}", kNames, *values).value() == "1e-05/3");
}

TEST_CASE("placeholders: a byte 0 fits into no word") {
  const auto values = parameter_values(R"({"parameters": {"lr": "a\u0000b"}})");
  REQUIRE(values.has_value());
  CHECK_FALSE(fill_in("{lr}", kNames, *values).has_value());
  CHECK_FALSE(parameter_values("[]").has_value());
}

}  // namespace attune::placeholders_test
