// Any text as a command and as a template: an error or pieces; what is rendered as JSON is JSON,
// and no value ever stands in the text of a command.
#include "backends/command/shell_script.h"
#include "backends/command/template_file.h"
#include "base/check.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

FUZZ_TARGET(input) {
  const ParameterNames names({"x", "rate", "o._name"});
  const ParameterValues values = {{"x", "a\"b\n'\\"}, {"rate", 1e-5}};
  const std::string text(input);
  if (const auto script = shell_script(text, names)) {
    ATTUNE_CHECK(script->parameters.size() <= 3);
    // Without placeholders it is what the user wrote, but for {{x}}.
    ATTUNE_CHECK(!script->parameters.empty() || script->text.size() <= text.size());
  }
  for (const TemplateFormat format : {TemplateFormat::as_text, TemplateFormat::as_json,
                                      TemplateFormat::as_toml, TemplateFormat::as_xml}) {
    const auto rendered = render_template({"t", "f", format, text, false}, names, values);
    if (rendered && format == TemplateFormat::as_json) ATTUNE_CHECK(json::accept(*rendered));
  }
}
