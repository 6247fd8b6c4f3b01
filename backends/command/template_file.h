#pragma once
// Input files of a program, rendered anew for each attempt from a template with placeholders
// (backends/command/placeholders.h).
#include <optional>
#include <string>
#include <vector>

#include "backends/command/placeholders.h"
#include "base/result.h"

namespace attune {

// What a value becomes:
//   json, toml  outside of quotes a literal of the format (TOML has no null: an error), inside of
//               them the text, escaped (TOML's '...' has no escapes: what needs one is an error)
//   xml         the text, with & < > " ' escaped
//   text        the text
enum class TemplateFormat { as_text, as_json, as_toml, as_xml };

std::optional<TemplateFormat> parse_template_format(const std::string& name);
TemplateFormat format_of_file(const std::string& file);  // by its extension; text for any other

struct TemplateFile {
  std::string name;  // of the template, for messages
  std::string file;  // in the trial's folder, relative to it
  TemplateFormat format = TemplateFormat::as_text;
  std::string text;
  bool executable = false;  // what is rendered, for the user
};

// Errors name the template and the line. What is rendered as JSON is JSON, or an error.
Result<std::string> render_template(const TemplateFile& file, const ParameterNames& names,
                                    const ParameterValues& values);

// The same without a trial: whether all placeholders are known, and JSON with null for each is
// JSON. The result: the parameters that it names.
Result<std::vector<std::string>> check_template(const TemplateFile& file,
                                                const ParameterNames& names);

}  // namespace attune
