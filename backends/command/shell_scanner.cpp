#include "backends/command/shell_scanner.h"

#include <algorithm>
#include <array>
#include <utility>

namespace attune {
namespace {

constexpr std::array<std::string_view, 10> kBefore = {"if",    "then",  "else", "elif", "do",
                                                      "while", "until", "!",    "{",    "time"};
constexpr std::array<std::string_view, 2> kWrappers = {"command", "builtin"};
constexpr std::array<std::string_view, 5> kDeclare = {"declare", "typeset", "local", "readonly",
                                                      "export"};
// Commands whose arguments are names of variables, possibly with subscripts.
constexpr std::array<std::string_view, 5> kNames = {"read", "unset", "mapfile", "readarray",
                                                    "getopts"};
constexpr std::array<std::string_view, 3> kWithName = {"printf", "test", "["};  // behind -v
constexpr std::array<std::string_view, 7> kCompare = {"-eq", "-ne", "-lt", "-le",
                                                      "-gt", "-ge", "-v"};

// Commands whose arguments are code, or files of code.
constexpr std::array<std::string_view, 9> kRun = {"eval",  "source", ".",  "compgen", "complete",
                                                  "alias", "bind",   "fc", "enable"};
// Variables whose values shells run: before each prompt or line, or when another shell starts.
constexpr std::array<std::string_view, 7> kRunVariables = {
    "PS0", "PS1", "PS2", "PS4", "ENV", "BASH_ENV", "PROMPT_COMMAND"};

bool is_one_of(std::string_view word, const auto& words) {
  return std::ranges::find(words, word) != words.end();
}

bool begins_name(char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_'; }
bool of_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

bool is_assignment(std::string_view word) {
  return begins_name(word[0]) && word.find('=') != std::string_view::npos;
}

// At any place of a command, because env and declare take NAME=value, too.
bool assigns_code(std::string_view word) {
  const std::string_view name = word.substr(0, word.find_first_of("=+["));
  return name.size() < word.size() && is_one_of(name, kRunVariables);
}

// Whether `word` is the beginning of name[subscript]=, or, in a list, of [subscript]=.
bool in_subscript(std::string_view word, bool list) {
  const std::size_t open = word.rfind('[');
  return open != std::string_view::npos && (open > 0 ? begins_name(word[0]) : list) &&
         word.find(']', open) == std::string_view::npos && word.find('=') == std::string_view::npos;
}

}  // namespace

void ShellScanner::take(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) at += step(text.substr(at));
  escaped_ = at > text.size();
}

void ShellScanner::take_value() {
  word_start_ = false;
  Command& now = command();
  now.has_value = true;
  if (evaluated_.empty()) evaluated_ = place();
  now.word += '?';
}

std::string_view ShellScanner::place() {
  const Command& now = command();
  if (now.test) return now.compares ? kArithmetic : "";
  if (now.redirects) return "";
  if (now.traps) return kTrap;
  if (now.runs || assigns_code(now.word)) return kCode;
  const bool list = holder().list > 0;
  const bool assigns = !now.begun || now.declares || list;
  if (now.evaluates || (assigns && in_subscript(now.word, list))) return kArithmetic;
  const bool glued = now.with_name && now.word == "-v";
  const bool name = now.names && now.word.find('=') == std::string::npos;
  return name || glued || now.name_next ? kName : "";
}

std::string_view ShellScanner::evaluated() const {
  const auto arithmetic = [](const Nesting& nesting) {
    return nesting.context == Context::arithmetic || nesting.part == Part::index ||
           nesting.part == Part::offset;
  };
  return std::ranges::any_of(nested_, arithmetic) ? kArithmetic : evaluated_;
}

ShellScanner::Nesting& ShellScanner::holder() {
  // Always finds one, because the outermost one is code.
  const auto holds_command = [](const Nesting& nesting) {
    return nesting.part == Part::none &&
           (nesting.context == Context::code || nesting.context == Context::backtick);
  };
  return *std::find_if(nested_.rbegin(), nested_.rend(), holds_command);
}

void ShellScanner::end_word() {
  Command& now = command();
  const std::string word = std::exchange(now.word, {});
  if (word.empty() || std::exchange(now.redirects, false)) return;
  now.name_next = now.with_name && word == "-v";
  if (now.test) {
    now.test = word != "]]";
    now.compares = now.compares || is_one_of(word, kCompare);
    if (now.compares && now.has_value) evaluated_ = kArithmetic;
  } else if (word == "[[") {
    now = Command{.test = true};
  } else if (!now.begun) {
    if (is_one_of(word, kBefore) || is_one_of(word, kWrappers) || is_assignment(word)) return;
    now.begun = true;
    now.evaluates = word == "let";
    now.traps = word == "trap";
    now.runs = is_one_of(word, kRun);
    now.declares = is_one_of(word, kDeclare);
    now.names = now.declares || is_one_of(word, kNames);
    now.with_name = is_one_of(word, kWithName);
  } else if (now.declares && word[0] == '-' && word.find_first_of("in") != std::string::npos) {
    now.evaluates = true;  // -n: the value is the name of another variable
  }
}

void ShellScanner::end_command() {
  end_word();
  command() = Command{.test = command().test};
}

std::size_t ShellScanner::enter(Context context, std::size_t bytes, Part part, char close) {
  nested_.push_back({.context = context, .part = part, .close = close});
  word_start_ = part == Part::none && (context == Context::code || context == Context::backtick);
  return bytes;
}

std::size_t ShellScanner::leave(std::size_t bytes) {
  if (nested_.size() > 1) nested_.pop_back();
  word_start_ = false;
  return bytes;
}

std::size_t ShellScanner::step(std::string_view rest) {
  if (comment_) {
    comment_ = rest[0] != '\n';
    word_start_ = !comment_;
    return 1;
  }
  if (nested_.back().part != Part::none) return in_braces(rest);
  switch (now()) {
    case Context::single:
      if (rest[0] == '\'') return leave(1);
      command().word += rest[0];
      return 1;
    case Context::ansi:
      if (rest[0] == '\\') return 2;
      return rest[0] == '\'' ? leave(1) : 1;
    case Context::dbl:
      if (rest[0] == '"') return leave(1);
      command().word += rest[0];
      return expansion(rest);
    case Context::arithmetic:
      return in_arithmetic(rest);
    default:
      return in_code(rest);
  }
}

// Handles what is special in double quotes as well as outside of them.
std::size_t ShellScanner::expansion(std::string_view rest) {
  if (rest[0] == '\\') return 2;
  if (rest.starts_with("$((")) return enter(Context::arithmetic, 3);
  if (rest.starts_with("$[")) return enter(Context::arithmetic, 2, Part::none, ']');
  if (rest.starts_with("$(")) return enter(Context::code, 2);
  if (rest.starts_with("${")) return enter(now(), 2, Part::name);
  if (rest[0] == '`') return enter(Context::backtick, 1);
  return 1;
}

std::size_t ShellScanner::in_braces(std::string_view rest) {
  Nesting& top = nested_.back();
  const char c = rest[0];
  if (c == '}') return leave(1);
  if (top.part == Part::name) {
    const bool first = !std::exchange(top.started, true);
    if (c == '[') {
      top.part = Part::index;
    } else if (c == ':') {
      constexpr std::string_view kDefaults = "-+=?";
      const bool is_default = rest.size() > 1 && kDefaults.find(rest[1]) != std::string_view::npos;
      top.part = is_default ? Part::word : Part::offset;
    } else if (!of_name(c) && !(first && (c == '#' || c == '!'))) {
      top.part = Part::word;
    }
    return 1;
  }
  if (top.part == Part::index && c == ']') {
    top.part = Part::name;
    return 1;
  }
  if (c == '"') return enter(Context::dbl, 1);
  if (top.context != Context::dbl && c == '\'') return enter(Context::single, 1);
  return expansion(rest);
}

std::size_t ShellScanner::in_arithmetic(std::string_view rest) {
  Nesting& top = nested_.back();
  if (rest[0] == (top.close == ')' ? '(' : '[')) ++top.open;
  if (rest[0] != top.close) return 1;
  if (top.open == 0) return leave(top.close == ')' && rest.starts_with("))") ? 2 : 1);
  --top.open;
  return 1;
}

std::size_t ShellScanner::in_code(std::string_view rest) {
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
  const bool list = c == '(' && command().word.ends_with('=');
  const bool code = list && assigns_code(command().word);
  const bool redirects = (c == '<' || c == '>') && !command().test;
  constexpr std::string_view kDigits = "0123456789";
  if (redirects && command().word.find_first_not_of(kDigits) == std::string::npos)
    command().word.clear();  // the word was the number of a descriptor
  const bool duplicates = c == '&' && command().redirects && command().word.empty();  // 2>&1
  constexpr std::string_view kBetweenCommands = "\n;&|()";
  if (kBetweenCommands.find(c) != std::string_view::npos && !duplicates) end_command();
  if (word_start_) end_word();
  if (redirects) command().redirects = true;
  if (code) command().runs = true;
  if (rest.starts_with("<<<")) return 3;
  if (rest.starts_with("<<")) {
    here_document_ = true;
    return 2;
  }
  Nesting& top = nested_.back();
  if (c == '(') ++top.open;
  if (list) top.list = top.open;
  if (c == ')') {
    if (top.open == 0) return leave(1);
    if (top.list == top.open) top.list = 0;
    --top.open;
  }
  if (!word_start_) command().word += c;
  return expansion(rest);
}

}  // namespace attune
