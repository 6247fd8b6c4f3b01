#include "manager/experiment/yaml_mistakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace attune {
namespace {

constexpr std::string_view kBlank = " \t\r";
constexpr std::size_t kMostQuoted = 60;  // bytes of a text that a message repeats

// The parts of one line such as `- key: value`.
struct YamlLine {
  std::string_view text = {};
  std::size_t indent = 0;                 // bytes before the first that is no blank
  std::string_view key = {};              // empty: none
  std::size_t value = std::string::npos;  // the position where the value begins; npos: none

  char first_of_value() const { return value < text.size() ? text[value] : '\0'; }
};

YamlLine parse_line(std::string_view text) {
  YamlLine line{.text = text.substr(0, text.find_last_not_of(kBlank) + 1)};
  line.indent = std::min(line.text.find_first_not_of(kBlank), line.text.size());
  std::size_t begin = line.indent;
  while (line.text.substr(begin).starts_with("- "))
    begin = std::min(line.text.find_first_not_of(kBlank, begin + 1), line.text.size());
  const std::size_t colon = line.text.find(": ", begin);
  if (colon != line.text.npos) {
    line.key = line.text.substr(begin, colon - begin);
    line.value = line.text.find_first_not_of(kBlank, colon + 1);
  } else if (line.text.size() > begin && line.text.ends_with(':')) {
    line.key = line.text.substr(begin, line.text.size() - 1 - begin);
  } else if (begin > line.indent) {
    line.value = begin;
  }
  return line;
}

bool is_empty(const YamlLine& line) {
  return line.indent == line.text.size() || line.text[line.indent] == '#';
}

std::vector<std::string_view> lines_of(std::string_view text, int most) {
  std::vector<std::string_view> lines;
  while (!text.empty() && static_cast<int>(lines.size()) < most) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

// The advice to quote the value of the line, in the kind of quotes that it does not contain.
std::string quoting(const YamlLine& line) {
  const std::string_view value =
      line.value < line.text.size() ? line.text.substr(line.value) : std::string_view();
  const bool single = value.find('\'') == value.npos;
  const bool plain = value.find_first_of("\"\\") == value.npos;
  if (value.empty() || value.size() > kMostQuoted || (!single && !plain))
    return "put quotes around the text, or write it behind `|` in lines of its own";
  return single ? fmt::format("put it in quotes: '{}'", value)
                : fmt::format("put it in quotes: \"{}\"", value);
}

YamlMistake begins_with(const YamlLine& line, int number) {
  return {{number, static_cast<int>(line.value) + 1},
          fmt::format("a text that begins with {} means something else in YAML; {}",
                      line.first_of_value(), quoting(line))};
}

// Explains YamlFault::value_in_value. `before`: the last line above that is not empty; `above`: its
// number.
YamlMistake second_value(const YamlLine& line, const YamlLine& before, int above, Mark at) {
  const auto column = static_cast<std::size_t>(at.column - 1);
  // Is the colon at which the parser stopped inside of the value, or that of the line's own key?
  if (line.value < line.text.size() && column >= line.value)
    return {at, fmt::format("a `: ` within a text begins another value; {}", quoting(line))};
  if (is_empty(before)) return {at, ""};
  const std::size_t colon = before.text.find(':', before.indent);
  if (before.key.empty() && colon != before.text.npos)
    return {{above, static_cast<int>(colon) + 1},
            "a blank is missing behind the colon: `key: value`"};
  if (before.key.empty())
    return {{above, static_cast<int>(before.indent) + 1},
            "no key: each line of a mapping is `key: value`"};
  return {{at.line, static_cast<int>(line.indent) + 1},
          fmt::format("indented deeper than the line above, whose key {} has its value already; "
                      "begin both in the same column, or put a text of several lines behind `|`",
                      before.key)};
}

// The place of the innermost { or [ that is open before `at`. Text in quotes is skipped, if the
// quotes close in the same line.
std::optional<std::pair<Mark, char>> open_bracket(const std::vector<std::string_view>& lines,
                                                  Mark at) {
  std::vector<std::pair<Mark, char>> open;
  for (int number = 1; number <= static_cast<int>(lines.size()); ++number) {
    const std::string_view line = lines[static_cast<std::size_t>(number - 1)];
    const std::size_t end =
        number < at.line ? line.size() : std::min<std::size_t>(line.size(), at.column - 1);
    for (std::size_t i = 0; i < end; ++i) {
      const char c = line[i];
      if (c == '#' && (i == 0 || line[i - 1] == ' ')) break;
      if (c == '"' || c == '\'') {
        const std::size_t closing = line.find(c, i + 1);
        if (closing != line.npos) i = closing;
      } else if (c == '{' || c == '[') {
        open.emplace_back(Mark{number, static_cast<int>(i) + 1}, c);
      } else if ((c == '}' || c == ']') && !open.empty()) {
        open.pop_back();
      }
    }
  }
  if (open.empty()) return std::nullopt;
  return open.back();
}

YamlMistake unclosed(const std::vector<std::string_view>& lines, Mark at) {
  const auto open = open_bracket(lines, at);
  if (!open)
    return {at,
            "a { or [ before this place is not closed; a text that begins with one needs quotes"};
  const auto& [mark, bracket] = *open;
  return {mark, fmt::format("this {} is not closed, or a comma is missing in it: the end, or a "
                            "comma, was expected in line {}, column {}; a text that begins with "
                            "{} needs quotes",
                            bracket, at.line, at.column, bracket)};
}

}  // namespace

YamlMistake explain_yaml(std::string_view text, Mark at, YamlFault fault) {
  const std::vector<std::string_view> lines = lines_of(text, at.line);
  if (static_cast<int>(lines.size()) < at.line) {  // the end of the text
    if (fault == YamlFault::unclosed) return unclosed(lines, at);
    return {at, ""};
  }
  const YamlLine line = parse_line(lines.back());
  YamlLine before;
  int above = at.line;
  while (above > 1 && is_empty(before)) {
    --above;
    before = parse_line(lines[static_cast<std::size_t>(above - 1)]);
  }
  const std::size_t tab = line.text.substr(0, line.indent).find('\t');
  const bool indentation = fault == YamlFault::tab || fault == YamlFault::value_in_value ||
                           fault == YamlFault::end_of_map;
  if (indentation && tab != line.text.npos)
    return {{at.line, static_cast<int>(tab) + 1}, "a tab; YAML indents with spaces only"};
  constexpr std::string_view kSpecial = "{[\"'";
  switch (fault) {
    case YamlFault::value_in_value:
      return second_value(line, before, above, at);
    case YamlFault::end_of_map:
      if (kSpecial.find(line.first_of_value()) != kSpecial.npos &&
          at.column > static_cast<int>(line.value) + 1)
        return begins_with(line, at.line);
      return {{at.line, static_cast<int>(line.indent) + 1},
              "the indentation fits no line above: the keys of one mapping begin in the same "
              "column"};
    case YamlFault::unclosed:
      return unclosed(lines, at);
    case YamlFault::unopened:
      return {at, "nothing is open that this bracket closes; a text with it needs quotes"};
    case YamlFault::reserved:
      if (line.value < line.text.size()) return begins_with(line, at.line);
      return {at, "no text begins with this character; put it in quotes"};
    case YamlFault::list_in_line:
      return {at, "a list begins in a line of its own, or is written [a, b]; a text needs quotes"};
    case YamlFault::behind_block:
      return {at, "the text behind | or > begins in the next line, indented"};
    case YamlFault::escape:
      return {at,
              "a backslash in double quotes begins an escape, and this is none; write the text in "
              "single quotes, where a backslash is one"};
    case YamlFault::tab:
    case YamlFault::other:
      break;
  }
  return {at, ""};
}

}  // namespace attune
