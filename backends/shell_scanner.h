#pragma once
// Follows a shell command as far as it matters where a value may stand in it.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

// Where the scan is mistaken (a `)` of `case` inside of $(...)) a value may be split into words; it
// is not read as code, since all that is ever written is the name of a variable, except where the
// shell evaluates the value of a variable as an arithmetic expression: see evaluated().
class ShellScanner {
 public:
  enum class Context { code, single, ansi, dbl, backtick, arithmetic };

  void take(std::string_view text);
  void take_value();  // a value stands here: one word, of which the scan sees nothing

  Context now() const { return nested_.back().context; }
  bool here_document() const { return here_document_; }
  // What comes next is no code: a comment, or behind a backslash.
  bool at_text() const { return comment_ || escaped_; }
  // A value here, or one that was taken, is evaluated: in $((...)), ((...)) and $[...], as a
  // subscript or an offset, by let and declare -i, by -gt and the like in [[...]]. What a variable
  // was declared to be before is not known.
  bool evaluated() const;

 private:
  enum class Part { none, name, index, offset, word };  // of ${...}
  // The simple command that is under way.
  struct Command {
    std::string word{};      // so far, without its quotes
    bool begun = false;      // its own first word has passed
    bool declares = false;   // declare and its like
    bool evaluates = false;  // its arguments
    bool test = false;       // [[...]]; of the part between && and ||:
    bool compares = false, has_value = false;
  };
  struct Nesting {
    Context context;
    Part part = Part::none;
    char close = ')';      // of an arithmetic one
    int open = 0;          // brackets that are not the end of it
    bool started = false;  // the name of ${...}
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
  Command& command();

  std::vector<Nesting> nested_{Nesting{Context::code}};
  bool word_start_ = true;  // a `#` here begins a comment
  bool comment_ = false, escaped_ = false, here_document_ = false, evaluated_ = false;
};

}  // namespace attune
