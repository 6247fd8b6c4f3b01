#pragma once
// Follows the syntax of a shell command, as far as needed to know where a value may stand in it.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

// The scan may be wrong, for example about a `)` of `case` inside of $(...). Then the shell may
// split a value into several words. It still does not run the value as code, because only the name
// of a variable is ever written into the command. The exception are places where the shell
// evaluates the value of a variable: see evaluated().
class ShellScanner {
 public:
  enum class Context { code, single, ansi, dbl, backtick, arithmetic };

  void take(std::string_view text);
  void take_value();  // a value stands here: one word, whose content the scan does not know

  Context now() const { return nested_.back().context; }
  bool here_document() const { return here_document_; }
  // What follows is no code: it is in a comment, or behind a backslash.
  bool at_text() const { return comment_ || escaped_; }
  // The kind of place in which the shell would evaluate a value that stands here, or one that was
  // taken; empty if it would not.
  // * Arithmetic: $((...)), ((...)), $[...], a subscript, an offset, let, declare -i, and -gt and
  //   the like in [[...]].
  // * The name of a variable, which may have a subscript: read, unset, declare, printf -v, [ -v.
  // * A trap.
  // * Code: arguments of eval, source, compgen and the like; values of variables that shells run by
  //   themselves (PS4, BASH_ENV).
  // The scan does not know how a variable was declared before, nor who reads it later.
  std::string_view evaluated() const;

  static constexpr std::string_view kArithmetic = "in an arithmetic expression";
  static constexpr std::string_view kName = "for the name of a variable";
  static constexpr std::string_view kTrap = "in a trap";
  static constexpr std::string_view kCode = "where a command or variable takes code";

 private:
  enum class Part { none, name, index, offset, word };  // of ${...}
  // The simple command that is being read.
  struct Command {
    std::string word{};      // so far, without its quotes
    bool begun = false;      // its own first word has passed
    bool declares = false;   // it is declare or the like
    bool evaluates = false;  // its arguments are arithmetic
    bool traps = false, names = false;
    bool runs = false;  // its arguments are code
    // Its option -v takes a name (with_name); that name is the next word (name_next).
    bool with_name = false, name_next = false;
    bool redirects = false;  // the next word is the target of a redirection
    bool test = false;       // inside of [[...]]; the next two are of the part between && and ||
    bool compares = false, has_value = false;
  };
  struct Nesting {
    Context context;
    Part part = Part::none;
    char close = ')';      // of an arithmetic expression: what ends it
    int open = 0;          // open brackets whose closing ones do not end it
    int list = 0;          // `open` at the bracket of name=(...), while that is open
    bool started = false;  // the name in ${...} has begun
    Command command{};
  };

  std::size_t enter(Context context, std::size_t bytes, Part part = Part::none, char close = ')');
  std::size_t leave(std::size_t bytes);
  std::size_t step(std::string_view rest);
  std::size_t expansion(std::string_view rest);
  std::size_t in_braces(std::string_view rest);
  std::size_t in_arithmetic(std::string_view rest);
  std::size_t in_code(std::string_view rest);
  void end_word();
  void end_command();
  std::string_view place();
  Nesting& holder();
  Command& command() { return holder().command; }

  std::vector<Nesting> nested_{Nesting{Context::code}};
  bool word_start_ = true;  // a `#` here begins a comment
  bool comment_ = false, escaped_ = false, here_document_ = false;
  std::string_view evaluated_;
};

}  // namespace attune
