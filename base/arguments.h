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

// Checks `given` against `declared` and fills in the defaults, in declaration order. null counts as
// {}. An error names the argument and what is accepted. Its place is the owner and the path to the
// argument; for an unknown argument, the path to the object that holds it:
//
//   TPE: unknown argument "sed"; did you mean "seed"? Accepted: optimize_mode, seed, tpe_args
Result<json> resolve_arguments(std::string_view owner, const std::vector<Argument>& declared,
                               const json& given);

// For an algorithm that checks its arguments itself: they stay as they are. Error: they are neither
// null nor an object.
Result<json> unchecked_arguments(std::string_view owner, const json& given);

struct ArgumentFlaw {
  std::vector<std::string> path;  // "tpe_args", "gamma"; empty: the arguments as a whole
  std::string message;
  bool unknown = false;  // no argument has this name
};

// The same, but appends all flaws. The result is valid only if there are none.
json resolve_arguments(const std::vector<Argument>& declared, const json& given,
                       std::vector<ArgumentFlaw>& flaws);

// The name in `candidates` that is nearest to `word`, or "". The edit distance may be at most a
// third of the word's length, or 1.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace attune
