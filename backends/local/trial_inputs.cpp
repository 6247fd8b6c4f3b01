#include "backends/local/trial_inputs.h"

#include <fmt/format.h>

#include "backends/command/placeholders.h"
#include "backends/command/template_file.h"
#include "backends/command/trial_command.h"

namespace attune {

Result<TrialInputs> write_inputs(const LocalBackendOptions& options, const TrialStart& start,
                                 const std::filesystem::path& folder, const TrialFolder& files) {
  TrialCommand command = TRY(trial_command(options.command, options.parameter_names,
                                           options.arguments, start.parameter_text, folder));
  TrialInputs inputs;
  inputs.command = std::move(command.arguments);
  std::vector<std::string> rendered;
  if (!options.variables.empty() || !options.templates.empty()) {
    const ParameterValues values = TRY(parameter_values(start.parameter_text));
    for (const auto& [name, text] : options.variables) {
      auto value = fill_in(text, options.parameter_names, values);
      if (!value) return fail(fmt::format("environment.{}: {}", name, value.error().message));
      inputs.variables.emplace_back(name, *std::move(value));
    }
    for (const TemplateFile& file : options.templates)
      rendered.push_back(TRY(render_template(file, options.parameter_names, values)));
  }
  TRY(files.prepare(start.attempt, options.in_step));
  TRY(files.write("parameter.cfg", start.parameter_text));
  if (!command.config.empty()) TRY(files.write("config.json", command.config));
  for (std::size_t i = 0; i < rendered.size(); ++i)
    TRY(files.write(options.templates[i].file, rendered[i], options.templates[i].executable));
  // The result file of an earlier attempt must not count for this one.
  if (!options.report.file.empty()) TRY(files.remove(options.report.file));
  return inputs;
}

ParameterId parameter_id_of(const std::string& parameter_text) {
  const auto payload = parse_json(parameter_text);
  if (!payload || !payload->is_object()) return {};
  const auto id = payload->find("parameter_id");
  if (id == payload->end()) return {};
  if (id->is_number_integer()) return id->get<std::int64_t>();
  if (id->is_string()) return id->get<std::string>();
  return {};
}

}  // namespace attune
