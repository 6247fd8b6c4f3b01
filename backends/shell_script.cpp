#include "backends/shell_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace attune {
namespace {

// Where in a command a byte stands. Where the scan is mistaken (a `)` of `case` inside of $(...))
// a value may be split into words; it is never read as code, since all that is ever written is the
// name of a variable.
enum class Context { code, single, ansi, dbl, backtick, arithmetic };

class Scanner {
 public:
  void take(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) at += step(text.substr(at));
    escaped_ = at > text.size();
  }
  Context now() const { return nested_.back().context; }
  bool here_document() const { return here_document_; }
  // What comes next is no code: a comment, or behind a backslash.
  bool at_text() const { return comment_ || escaped_; }

  // One word has been written, of which the scan sees nothing.
  void take_value() { word_start_ = false; }

 private:
  struct Nesting {
    Context context;
    int parentheses = 0;  // open ones that are not the end of it
  };

  std::size_t enter(Context context, std::size_t bytes) {
    nested_.push_back({context});
    word_start_ = context == Context::code || context == Context::backtick;
    return bytes;
  }
  std::size_t leave(std::size_t bytes) {
    if (nested_.size() > 1) nested_.pop_back();
    word_start_ = false;
    return bytes;
  }

  std::size_t step(std::string_view rest) {
    if (comment_) {
      comment_ = rest[0] != '\n';
      word_start_ = !comment_;
      return 1;
    }
    switch (now()) {
      case Context::single:
        return rest[0] == '\'' ? leave(1) : 1;
      case Context::ansi:
        if (rest[0] == '\\') return 2;
        return rest[0] == '\'' ? leave(1) : 1;
      case Context::dbl:
        if (rest[0] == '"') return leave(1);
        return expansion(rest);
      case Context::arithmetic:
        return in_arithmetic(rest);
      default:
        return in_code(rest);
    }
  }

  // What is special in double quotes as well as outside of them.
  std::size_t expansion(std::string_view rest) {
    if (rest[0] == '\\') return 2;
    if (rest.starts_with("$((")) return enter(Context::arithmetic, 3);
    if (rest.starts_with("$(")) return enter(Context::code, 2);
    if (rest[0] == '`') return enter(Context::backtick, 1);
    return 1;
  }

  std::size_t in_arithmetic(std::string_view rest) {
    int& open = nested_.back().parentheses;
    if (rest[0] == '(') ++open;
    if (rest[0] != ')') return 1;
    if (open == 0) return leave(rest.starts_with("))") ? 2 : 1);
    --open;
    return 1;
  }

  std::size_t in_code(std::string_view rest) {
    const char c = rest[0];
    const bool first = word_start_;
    constexpr std::string_view kBeforeWord = " \t\n;&|()<>";
    word_start_ = kBeforeWord.find(c) != std::string_view::npos;
    if (c == '#' && first) {
      comment_ = true;
      return 1;
    }
    if (c == '\'') return enter(Context::single, 1);
    if (rest.starts_with("$'")) return enter(Context::ansi, 2);
    if (c == '"') return enter(Context::dbl, 1);
    if (c == '`' && now() == Context::backtick) return leave(1);
    if (rest.starts_with("((")) return enter(Context::arithmetic, 2);
    if (rest.starts_with("<<<")) return 3;
    if (rest.starts_with("<<")) {
      here_document_ = true;
      return 2;
    }
    if (c == '(') ++nested_.back().parentheses;
    if (c == ')') {
      if (nested_.back().parentheses == 0) return leave(1);
      --nested_.back().parentheses;
    }
    return expansion(rest);
  }

  std::vector<Nesting> nested_{{Context::code}};
  bool word_start_ = true;  // a `#` here begins a comment
  bool comment_ = false, escaped_ = false, here_document_ = false;
};

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
  const std::vector<TextPiece> pieces = TRY(split_placeholders(command, names));
  ShellScript script;
  Scanner scanner;
  std::string text;
  for (const TextPiece& piece : pieces) {
    if (!piece.is_parameter) {
      scanner.take(piece.text);
      text += piece.text;
      continue;
    }
    if (scanner.at_text()) {
      const std::string same = "{" + piece.text + "}";
      scanner.take(std::string_view(same).substr(1));
      text += same;
      continue;
    }
    if (scanner.now() == Context::arithmetic) {
      return fail(
          fmt::format("{{{}}} stands in an arithmetic expression, which the shell evaluates as "
                      "code; give the value to the program itself, or to a tool such as bc",
                      piece.text));
    }
    const auto known = std::ranges::find(script.parameters, piece.text);
    const auto number = known - script.parameters.begin();
    if (known == script.parameters.end()) script.parameters.push_back(piece.text);
    text += reference(scanner.now(), fmt::format("__attune_{}", number));
    scanner.take_value();
  }
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
