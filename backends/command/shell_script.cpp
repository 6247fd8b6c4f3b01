#include "backends/command/shell_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "backends/command/shell_scanner.h"

namespace attune {
namespace {

using Context = ShellScanner::Context;

std::unexpected<Error> evaluated(std::string_view name, std::string_view place) {
  return fail(fmt::format(
      "{{{}}} stands {}, which the shell evaluates as code; give the value to the "
      "program itself{}",
      name, place, place == ShellScanner::kArithmetic ? ", or to a tool such as bc" : ""));
}

std::string reference(Context context, const std::string& variable) {
  switch (context) {
    case Context::single:
      return fmt::format("'\"${{{}}}\"'", variable);
    case Context::ansi:
      return fmt::format("'\"${{{}}}\"$'", variable);
    case Context::dbl:
      return fmt::format("${{{}}}", variable);
    default:
      return fmt::format("\"${{{}}}\"", variable);
  }
}

}  // namespace

Result<ShellScript> shell_script(const std::string& command, const ParameterNames& names) {
  const std::vector<TextPiece> pieces = TRY(split_placeholders(command, names, Braces::of_command));
  ShellScript script;
  ShellScanner scanner;
  std::string text, newest;  // the value taken last
  for (const TextPiece& piece : pieces) {
    if (!piece.is_parameter) {
      scanner.take(piece.text);
      text += piece.text;
      continue;
    }
    // In a comment, or behind a backslash, it is text.
    if (scanner.at_text()) {
      const std::string same = "{" + piece.text + "}";
      scanner.take(std::string_view(same).substr(1));
      text += same;
      continue;
    }
    if (const auto place = scanner.evaluated(); !place.empty()) return evaluated(piece.text, place);
    const auto known = std::ranges::find(script.parameters, piece.text);
    const auto number = known - script.parameters.begin();
    if (known == script.parameters.end()) script.parameters.push_back(piece.text);
    text += reference(scanner.now(), fmt::format("__attune_{}", number));
    scanner.take_value();
    newest = piece.text;
    // take_value() knows the value's place in its command.
    if (!scanner.evaluated().empty()) break;
  }
  // Text behind the value, such as -gt in [[...]], may show that the shell evaluates it.
  if (const auto place = scanner.evaluated(); !place.empty() && !newest.empty())
    return evaluated(newest, place);
  if (scanner.here_document() && !script.parameters.empty()) {
    return fail(
        "a here-document (<<) and {placeholders} in one command: write the text as a template "
        "(key templates), or give the values in environment variables (key environment)");
  }
  std::string assignments;
  for (std::size_t i = 0; i < script.parameters.size(); ++i)
    assignments += fmt::format("__attune_{}=${{{}}} ", i, i + 1);
  if (!assignments.empty()) assignments += fmt::format("&& shift {}; ", script.parameters.size());
  script.text = assignments + text;
  return script;
}

}  // namespace attune
