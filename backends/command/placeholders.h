#pragma once
// Placeholders: `{lr}` in a text of the user stands for the value of the parameter `lr`. One rule
// for commands, environment variables and template files:
//   {name}     a parameter; of a nested choice {optimizer.lr}, {optimizer._name}
//   {{name}}   the text {name}
//   ${name}    is the shell's, and stays
//   {word}     that is nearly a parameter is an error: a name with another spelling, the last part
//              of a nested one, { name } and {name:.3f}. Any other stays in a template; in a
//              command or a variable the reader of the experiment file refuses it
//              (check_placeholders), and {{word}} is the text {word}
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// The names that a text may refer to, sorted, each once.
class ParameterNames {
 public:
  ParameterNames() = default;
  explicit ParameterNames(std::vector<std::string> names);

  bool contains(std::string_view name) const;
  const std::vector<std::string>& all() const { return names_; }
  // What a person meant by `word`, which is none of them: "" when it is no attempt at a name.
  std::string meant(std::string_view word) const;

 private:
  std::vector<std::string> names_;
};

struct TextPiece {
  std::string text;  // or the name of a parameter
  bool is_parameter = false;
};

// What {{word}} is where no parameter is called so, nor nearly: in a file it is that text, which
// may mean something to who reads the file; in a command it is the text {word}.
enum class Braces { of_file, of_command };

// `text` in pieces, texts and parameters, in its order. The error names the line when there are
// several, and the cure.
Result<std::vector<TextPiece>> split_placeholders(std::string_view text,
                                                  const ParameterNames& names, Braces braces);

// Whether a command or a variable has a {word} that looks like a placeholder and names no
// parameter. The error has all of them, the parameter that was meant or a list of them, and says
// how to write the text itself. Not for what a former version has stored, which took it for text.
Result<void> check_placeholders(std::string_view text, const ParameterNames& names);

std::vector<std::string> parameters_in(const std::vector<TextPiece>& pieces);  // in order

// What the placeholders of one trial stand for, by name. What is not in it belongs to a branch that
// was not taken.
using ParameterValues = std::map<std::string, json, std::less<>>;

// `parameter_text` as in TrialStart.
Result<ParameterValues> parameter_values(const std::string& parameter_text);

// As a word: a text as it is, anything else as JSON text, a missing one empty.
std::string value_as_text(const ParameterValues& values, std::string_view name);

// Every placeholder of a variable replaced by its word. An error when that has a byte 0, which no
// word of a process can hold.
Result<std::string> fill_in(std::string_view text, const ParameterNames& names,
                            const ParameterValues& values);

}  // namespace attune
