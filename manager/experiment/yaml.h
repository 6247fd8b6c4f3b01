#pragma once
// Reads YAML, and JSON as a part of it, into JSON values with their places in the text.
//
// Plain scalars follow YAML 1.2: `true` and `false` are the only booleans, 1e-5 is a number; `yes`,
// `on` and 1:30 are texts. A quoted scalar is always a text. Errors are: a key that appears twice,
// a key that is no text or longer than 1,024 bytes, more than 20,000 keys in one mapping, more than
// 200 levels, and more than 200,000 values, for which an alias counts each time.
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "manager/experiment/findings.h"

namespace attune {

struct YamlDocument {
  json value;
  // "tuner.classArgs.seed", "list[2]" -> where the key or the item begins. Very long paths are left
  // out. "" -> what stands for all others; not there: the first line.
  std::map<std::string, Mark> marks;

  // A document that was read from no YAML: no place in it is known.
  static YamlDocument without_places(json value) { return {std::move(value), {{"", {0, 0}}}}; }

  Mark mark(const std::string& path) const;  // of the path, else of the nearest one above it
};

// `name` is the file in the findings. Nothing: the text as a whole cannot be read. A single wrong
// value is a finding at its key, and null in the document.
std::optional<YamlDocument> parse_yaml(const std::string& text, const std::string& name,
                                       Findings& findings);
// The same, but any finding is an error.
Result<YamlDocument> parse_yaml(const std::string& text, const std::string& name);

// Writes a value as YAML in block style, with a line end at the end. parse_yaml() and readers of
// YAML 1.1 (for which unquoted `yes` and 1:30 are no texts) read the same value from it.
std::string yaml_text(const json& value);

}  // namespace attune
