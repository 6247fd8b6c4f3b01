#pragma once
// Placeholders: `{lr}` in a text of the user stands for the value of the parameter `lr`. Commands,
// environment variables and template files share these rules:
//   {name}     a parameter; inside of a nested choice {optimizer.lr}, {optimizer._name}
//   {{name}}   the text {name}
//   ${name}    belongs to the shell, and stays
//   {word}     that is nearly a parameter is an error: another spelling of a name, the last part of
//              a nested one, { name } and {name:.3f}. Any other {word} stays in a template. In a
//              command or a variable, the reader of the experiment file refuses it
//              (check_placeholders); there {{word}} is the text {word}
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
  // The parameter that a person probably meant by `word`, which is no parameter; "" if it does not
  // look like one.
  std::string meant(std::string_view word) const;

 private:
  std::vector<std::string> names_;
};

struct TextPiece {
  std::string text;  // the text, or the name of the parameter
  bool is_parameter = false;
};

// What {{word}} means if no parameter has this name or a similar one. of_file: it stays as it is,
// because the reader of the file may give it a meaning. of_command: it is the text {word}.
enum class Braces { of_file, of_command };

// Splits `text` into texts and parameters, in their order. The error gives the cure, and the line
// if there are several.
Result<std::vector<TextPiece>> split_placeholders(std::string_view text,
                                                  const ParameterNames& names, Braces braces);

// Checks a command or a variable for a {word} that looks like a placeholder and names no parameter.
// The error lists all of them, with the parameter that was probably meant or the known ones, and
// says how to write the text itself. Do not use it for what a former version has stored, which took
// such words for text.
Result<void> check_placeholders(std::string_view text, const ParameterNames& names);

std::vector<std::string> parameters_in(const std::vector<TextPiece>& pieces);  // in order

// The values of one trial's parameters, by name. A parameter that is missing belongs to a branch
// that was not taken.
using ParameterValues = std::map<std::string, json, std::less<>>;

// `parameter_text` is that of TrialStart.
Result<ParameterValues> parameter_values(const std::string& parameter_text);

// The value as one word: a text as it is, anything else as JSON text, empty if it is missing.
std::string value_as_text(const ParameterValues& values, std::string_view name);

// Replaces every placeholder by its value. Error: the result has a byte 0, which neither an
// argument nor a variable of a process can have.
Result<std::string> fill_in(std::string_view text, const ParameterNames& names,
                            const ParameterValues& values);

}  // namespace attune
