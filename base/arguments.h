#pragma once
// The arguments (classArgs) of tuners and assessors: declared once in a registry entry, and
// checked, defaulted, listed and documented from that declaration.
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct Argument {
  enum class Type { boolean, integer, number, text, choice, object };

  // All have initialisers, so that a declaration may name only those that it needs.
  std::string name = {};
  Type type = Type::number;
  json fallback = {};                         // the default; null is allowed to stay null
  std::string help = {};                      // one line
  std::optional<double> low = {}, high = {};  // inclusive, for integer and number
  std::vector<std::string> choices = {};      // for choice: the accepted texts
  std::vector<Argument> members = {};         // for object
};

// `given` checked against `declared`: null counts as {}; defaults filled in, in declaration order.
// Errors name the argument and what is accepted. Their place is the owner and the way to the
// argument; of an unknown one, to what holds it:
//   TPE: unknown argument "sed"; did you mean "seed"? Accepted: optimize_mode, seed, tpe_args
Result<json> resolve_arguments(std::string_view owner, const std::vector<Argument>& declared,
                               const json& given);

struct ArgumentFlaw {
  std::vector<std::string> path;  // "tpe_args", "gamma"; empty: the arguments as a whole
  std::string message;
  bool unknown = false;  // there is no argument of that name
};

// The same with all that is wrong; the result is of use only when nothing is.
json resolve_arguments(const std::vector<Argument>& declared, const json& given,
                       std::vector<ArgumentFlaw>& flaws);

// The name in `candidates` nearest to `word` (edit distance, at most a third of its length), or "".
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace attune
