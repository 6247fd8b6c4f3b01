#pragma once
// YAML (and JSON, which is YAML too) as JSON values that still know their place.
//
// Plain scalars follow YAML 1.2: `true` and `false` are the only booleans, 1e-5 is a number, `yes`,
// `on` and 1:30 are texts. A quoted scalar is always a text. A key that appears twice, a key that
// is not a text or longer than 1,024 bytes, more than 20,000 keys in one mapping, nesting beyond
// 200 and more than 200,000 values (aliases count each time) are errors.
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "manager/experiment/findings.h"

namespace attune {

struct YamlDocument {
  json value;
  // "tuner.classArgs.seed", "list[2]" -> where the key or the item begins. Not of what stands very
  // deep.
  std::map<std::string, Mark> marks;

  Mark mark(const std::string& path) const;  // of the path or of what holds it
};

// `name` is the file in the findings. Nothing when the text as a whole cannot be read. A value that
// alone is wrong is a finding of its key, and null in the document.
std::optional<YamlDocument> parse_yaml(const std::string& text, const std::string& name,
                                       Findings& findings);
// The same, where any finding is an error.
Result<YamlDocument> parse_yaml(const std::string& text, const std::string& name);

// The other way round, in blocks, with a line end at the end: parse_yaml() and readers of YAML 1.1
// (where `yes` and 1:30 are no texts) find the same values in it.
std::string yaml_text(const json& value);

}  // namespace attune
