#include "plugins/process/command_words.h"

#include <fmt/format.h>

#include <utility>

namespace attune {
namespace {

constexpr std::string_view kSpaces = " \t\n";
constexpr std::string_view kForShells = "|&;<>()$`*?[#~{}!";
constexpr std::string_view kForShellsInQuotes = "$`";  // in "..."

std::unexpected<Error> for_a_shell(char c) {
  return fail(
      fmt::format("{} is for a shell, and none runs this command: quote it with '...', or write "
                  "sh -c '...'",
                  c));
}

}  // namespace

Result<std::vector<std::string>> command_words(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;  // of a word, which may still be empty
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_space = quote == 0 && kSpaces.find(c) != kSpaces.npos;
    if (is_space) {
      inside = false;
      continue;
    }
    if (!std::exchange(inside, true)) words.emplace_back();
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (++i == text.size()) return fail("a backslash ends the command");
      // In "..." it is for these alone.
      if (quote == '"' && std::string_view("\"\\$`").find(text[i]) == std::string_view::npos)
        words.back() += c;
      words.back() += text[i];
    } else if ((quote == 0 && kForShells.find(c) != kForShells.npos) ||
               (quote == '"' && kForShellsInQuotes.find(c) != kForShellsInQuotes.npos)) {
      return for_a_shell(c);
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return fail(fmt::format("{} without its end", quote));
  if (words.empty()) return fail("the command is empty");
  return words;
}

}  // namespace attune
