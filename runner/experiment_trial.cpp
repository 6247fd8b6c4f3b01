#include "runner/experiment_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "backends/shell_script.h"
#include "runner/experiment_report.h"

namespace attune {

namespace fs = std::filesystem;

const std::vector<std::string> kTrialKeys = {"environment", "templates", "trialWorkingDirectory",
                                             "report"};

namespace {

constexpr std::size_t kMaxTemplate = 16 << 20;

bool is_variable(std::string_view name) {
  const auto letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  return !name.empty() && (letter(name[0]) || name[0] == '_') &&
         std::ranges::all_of(
             name, [&](char c) { return letter(c) || c == '_' || (c >= '0' && c <= '9'); });
}

Result<void> read_environment(const Section& top, const ParameterNames& names, bool gpus,
                              TrialProgram& program) {
  const auto section = TRY(top.section("environment"));
  if (!section) return {};
  for (const auto& [name, value] : section->value().items()) {
    if (!is_variable(name))
      return section->error(name, "a name of letters, digits and '_' is needed for a variable");
    if (name.starts_with("NNI_") || name.starts_with("ATTUNE_"))
      return section->error(name, "variables NNI_... and ATTUNE_... are set by attune itself");
    if (name == "CUDA_VISIBLE_DEVICES" && gpus)
      return section->error(name, "attune sets it, since trials are given GPUs");
    // A number or a truth value is what it looks like: OMP_NUM_THREADS: 4.
    std::string text = value.is_string() ? value.get<std::string>() : dump_json(value);
    if (value.is_structured() || value.is_null())
      return section->error(name, "a text or a number expected");
    if (auto checked = split_placeholders(text, names); !checked)
      return section->error(name, checked.error().message);
    program.environment.emplace_back(name, std::move(text));
  }
  return {};
}

Result<TemplateFile> read_template(const Section& section, const fs::path& code) {
  TRY(section.check_keys({"template", "file", "format"}));
  const auto from = TRY(section.text("template"));
  if (!from || from->empty()) return section.error("template", "missing: the file to render");
  const auto to = TRY(section.text("file"));
  if (!to) return section.error("file", "missing: what it is rendered into");
  if (const std::string flaw = flaw_of_trial_file(*to); !flaw.empty())
    return section.error("file", flaw);
  TemplateFile file{*from, fs::path(*to).lexically_normal().string(), format_of_file(*to), {}};
  if (const auto format = TRY(section.text("format"))) {
    const auto known = parse_template_format(*format);
    if (!known)
      return section.error("format",
                           fmt::format("\"{}\" is none of json, toml, xml, text", *format));
    file.format = *known;
  }
  const fs::path path = code / *from;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (!error && size > kMaxTemplate)
    return section.error("template",
                         fmt::format("{} is larger than {} bytes", path.string(), kMaxTemplate));
  std::ifstream stream(path, std::ios::binary);
  if (error || !fs::is_regular_file(path, error) || !stream)
    return section.error("template", fmt::format("cannot read {}", path.string()));
  file.text.assign(std::istreambuf_iterator<char>(stream), {});
  return file;
}

Result<void> read_templates(const Section& top, const fs::path& code, const ParameterNames& names,
                            TrialProgram& program) {
  for (const Section& section : TRY(top.sections("templates"))) {
    TemplateFile file = TRY(read_template(section, code));
    const auto any = check_template(file, names);
    if (!any) return section.error("template", any.error().message);
    if (!*any)
      program.warnings.push_back(
          fmt::format("the template {} has no placeholder: every trial gets the same", file.name));
    for (const TemplateFile& known : program.templates) {
      if (known.file == file.file) return section.error("file", "there are two of that name");
    }
    program.templates.push_back(std::move(file));
  }
  return {};
}

}  // namespace

std::vector<std::string> placeholder_names(const Space& space) {
  std::vector<std::string> paths;
  std::vector<std::string> names;
  for (const Param& param : space.params) {
    std::string path = param.condition ? paths[param.condition->parent] + "." : "";
    path += param.name;
    names.push_back(path);
    if (const auto* choice = std::get_if<Choice>(&param.domain)) {
      if (choice->nested) names.push_back(path + "._name");
      if (choice->layer) names.insert(names.end(), {path + "._value", path + "._idx"});
    }
    paths.push_back(std::move(path));
  }
  return names;
}

Result<TrialProgram> read_trial(const Section& top, const Space& space, const std::string& command,
                                const fs::path& code_directory, const std::string& objective,
                                bool gpus) {
  TrialProgram program;
  program.parameter_names = placeholder_names(space);
  const ParameterNames names(program.parameter_names);
  if (auto checked = shell_script(command, names); !checked)
    return top.error("trialCommand", checked.error().message);
  TRY(read_environment(top, names, gpus, program));
  TRY(read_templates(top, code_directory, names, program));
  const std::string where = TRY(top.text("trialWorkingDirectory")).value_or("code");
  if (where != "code" && where != "trial")
    return top.error("trialWorkingDirectory", fmt::format("\"{}\" is none of code, trial", where));
  program.in_trial_folder = where == "trial";
  program.report = TRY(read_report(top, objective));
  const bool written_twice = std::ranges::any_of(program.templates, [&](const TemplateFile& file) {
    return !program.report.file.empty() && file.file == program.report.file;
  });
  if (written_twice) return top.error("report", "its file is also that of a template");
  return program;
}

}  // namespace attune
