#include "backends/command/template_file.h"

#include <catch2/catch.hpp>

namespace attune::template_file_test {

const ParameterNames kNames({"n", "x", "name", "flag", "none", "list", "branch", "o"});
const ParameterValues kValues = {
    {"n", 3},         {"x", 1e-5},       {"name", "a \"b\" \\ <c> & 'd'\n\x7f\xc3\xa4"},
    {"flag", true},   {"none", nullptr}, {"list", {1, "x"}},
    {"o", {{"k", 2}}}};

Result<std::string> rendered(const std::string& text, TemplateFormat format) {
  return render_template({"case.in", "case", format, text, false}, kNames, kValues);
}

TEST_CASE("template: JSON, in quotes and outside of them") {
  const auto text = rendered(
      R"({"n": {n}, "x": {x}, "name": {name}, "in": "a {name} {n}", "l": {list}, "e": "\"", "b": {branch}})",
      TemplateFormat::as_json);
  if (!text) FAIL(text.error().message);
  const json value = json::parse(*text);
  CHECK(value["n"] == 3);
  CHECK(value["x"] == 1e-5);
  CHECK(value["name"] == kValues.at("name"));
  CHECK(value["in"] == "a " + kValues.at("name").get<std::string>() + " 3");
  CHECK(value["l"] == kValues.at("list"));
  CHECK(value["b"].is_null());
}

TEST_CASE("template: what is no JSON names the template and the line") {
  const auto broken = rendered("{\"a\": {n},\n\"b\": {n}{n}x\n}", TemplateFormat::as_json);
  REQUIRE_FALSE(broken.has_value());
  CHECK(broken.error().message.starts_with("case.in, line 2: what is rendered is no JSON"));
  const auto checked =
      check_template({"case.in", "case", TemplateFormat::as_json, "{\"a\": {n}}}", false}, kNames);
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().message.starts_with("case.in, line 1"));
}

TEST_CASE("template: JSON has no comments, whose quotes would count") {
  const auto text = rendered("{ // the \" of it\n\"name\": {name}}", TemplateFormat::as_json);
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().message.starts_with("case.in, line 1: what is rendered is no JSON"));
}

TEST_CASE("template: TOML") {
  const auto text = rendered(
      "# it's {n} \"\nn = {n}\nx = {x}\nflag = {flag}\nname = {name}\nin = \"{name}\"\nl = {list}\n"
      "o = {o}\nplain = '{n}'\nlong = '''\n'it' {x}'''\nlast = \"\"\"{n}\"\"\"",
      TemplateFormat::as_toml);
  if (!text) FAIL(text.error().message);
  const std::string name = R"("a \"b\" \\ <c> & 'd'\n\u007f)"
                           "\xc3\xa4\"";
  CHECK(*text == "# it's \"3\" \"\nn = 3\nx = 1e-05\nflag = true\nname = " + name +
                     "\nin = " + name +
                     "\nl = [1, \"x\"]\no = {\"k\" = 2}\nplain = '3'\nlong = '''\n'it' "
                     "1e-05'''\nlast = \"\"\"3\"\"\"");
}

TEST_CASE("template: what TOML cannot say is an error with the line") {
  const auto null = rendered("a = 1\nb = {none}", TemplateFormat::as_toml);
  REQUIRE_FALSE(null.has_value());
  CHECK(null.error().message == "case.in, line 2: {none}: it is null, for which TOML has no word");
  CHECK_FALSE(rendered("b = {branch}", TemplateFormat::as_toml).has_value());
  CHECK_FALSE(rendered("b = '{name}'", TemplateFormat::as_toml).has_value());
}

TEST_CASE("template: XML and text") {
  CHECK(rendered("<a b='{name}'>{n}</a>", TemplateFormat::as_xml).value() ==
        "<a b='a &quot;b&quot; \\ &lt;c&gt; &amp; &apos;d&apos;\n\x7f\xc3\xa4'>3</a>");
  CHECK(rendered("{x} \"{name}\" {branch}.", TemplateFormat::as_text).value() ==
        "1e-05 \"" + kValues.at("name").get<std::string>() + "\" .");
}

TEST_CASE("template: checked without a trial") {
  const auto check = [](const std::string& text) {
    return check_template({"case.in", "case", TemplateFormat::as_toml, text, false}, kNames);
  };
  CHECK(check("a = {n}").value() == std::vector<std::string>{"n"});
  CHECK(check("a = 3").value().empty());
  const auto near = check("\n\na = {brunch}");
  REQUIRE_FALSE(near.has_value());
  CHECK(near.error().message.starts_with(
      "case.in: line 3: {brunch} is no parameter; did you mean {branch}"));
  CHECK(format_of_file("a/b.toml") == TemplateFormat::as_toml);
  CHECK(format_of_file("b.cfg") == TemplateFormat::as_text);
}

}  // namespace attune::template_file_test
