#pragma once
// Input files of a program, rendered for each attempt from a template with placeholders
// (backends/command/placeholders.h).
#include <optional>
#include <string>
#include <vector>

#include "backends/command/placeholders.h"
#include "base/result.h"

namespace attune {

// How a value is written:
//   json, toml  outside of quotes a literal of the format (TOML has no null: an error); inside of
//               quotes the text, escaped (TOML's '...' has no escapes: if one is needed, an error)
//   xml         the text, with & < > " ' escaped
//   text        the text
enum class TemplateFormat { as_text, as_json, as_toml, as_xml };

std::optional<TemplateFormat> parse_template_format(const std::string& name);
TemplateFormat format_of_file(const std::string& file);  // by its extension; text for any other

struct TemplateFile {
  std::string name;  // of the template, for messages
  std::string file;  // the file to make, relative to the trial's directory
  TemplateFormat format = TemplateFormat::as_text;
  std::string text;
  bool executable = false;  // the user may execute the rendered file
};

// Errors name the template and the line. A rendered JSON file is valid JSON, or there is an error.
Result<std::string> render_template(const TemplateFile& file, const ParameterNames& names,
                                    const ParameterValues& values);

// Checks a template without a trial: all placeholders are known, and a JSON template with null for
// each of them is valid JSON. Returns the parameters that it names.
Result<std::vector<std::string>> check_template(const TemplateFile& file,
                                                const ParameterNames& names);

}  // namespace attune
