#include "manager/experiment/experiment_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "backends/command/shell_script.h"
#include "base/base64.h"
#include "manager/experiment/experiment_report.h"
#include "manager/experiment/program_section.h"
#include "os/trust.h"

namespace attune {

namespace fs = std::filesystem;

const std::vector<std::string> kTrialKeys = {"environment", "templates", "trialWorkingDirectory",
                                             "report"};

namespace {

constexpr std::size_t kMaxTemplate = 16 << 20;

// Adds the parameters that the text refers to to `used`. A wrong placeholder is a finding of the
// key.
void check_words(const Section& section, const std::string& key, const std::string& text,
                 const TrialSetting& setting, const ParameterNames& names,
                 std::vector<std::string>& used) {
  if (setting.space == nullptr) return;
  if (setting.of_user) {
    if (const auto fine = check_placeholders(text, names); !fine)
      return section.error(key, fine.error().message);
  }
  const auto pieces = split_placeholders(text, names, Braces::of_command);
  if (!pieces) return section.error(key, pieces.error().message);
  for (std::string& parameter : parameters_in(*pieces)) used.push_back(std::move(parameter));
}

// Reads the content of a template into `file`. false: it cannot be read, which is a finding.
bool load_template(const Section& section, const fs::path& path, TemplateFile& file) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const auto wrong = [&](const std::string& what) {
    section.error("template", what);
    return false;
  };
  // Checked before it is opened: opening a FIFO would wait for a writer.
  if (error || !fs::is_regular_file(status))
    return wrong(fmt::format("cannot read {}: no regular file", path.string()));
  if (fs::file_size(path, error) > kMaxTemplate)
    return wrong(fmt::format("{} is larger than {} bytes", path.string(), kMaxTemplate));
  auto text = read_trusted_file(path, kMaxTemplate);
  if (!text) return wrong(text.error().message);
  file.text = *std::move(text);
  file.executable = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
  return true;
}

// Reads an entry of `templates`. Nothing if it has findings.
std::optional<TemplateFile> read_template(const Section& section, const fs::path& code) {
  section.check_keys({"template", "file", "format", "stored"});
  const auto from = section.text("template");
  if (!from || from->empty()) section.error("template", "missing: the file to render");
  const auto to = section.text("file");
  if (!to) section.error("file", "missing: what it is rendered into");
  if (to) {
    if (const std::string flaw = flaw_of_trial_file(*to); !flaw.empty())
      section.error("file", flaw);
  }
  TemplateFile file{from.value_or(""),
                    fs::path(to.value_or("")).lexically_normal().string(),
                    format_of_file(to.value_or("")),
                    {},
                    false};
  if (const auto format = section.text("format")) {
    const auto known = parse_template_format(*format);
    if (!known)
      section.error("format", fmt::format("\"{}\" is none of json, toml, xml, text", *format));
    file.format = known.value_or(file.format);
  }
  if (const auto stored = section.section("stored")) {
    auto text = base64_decode(stored->text("base64").value_or(""));
    if (!text) stored->error("base64", text.error().message);
    file.text = std::move(text).value_or("");
    file.executable = stored->boolean("executable").value_or(false);
  } else if (from && !from->empty() && !load_template(section, code / *from, file)) {
    return std::nullopt;
  }
  if (section.wrong("")) return std::nullopt;
  return file;
}

// Whether the two paths are equal, or one is a folder in the other.
bool in_the_way(const std::string& one, const std::string& other) {
  return one == other || one.starts_with(other + "/") || other.starts_with(one + "/");
}

// Reads the templates into `program`, and adds the parameters that they refer to to `words`.
void read_templates(const Section& top, const TrialSetting& setting, const ParameterNames& names,
                    TaskProgram& program, TrialWords& words) {
  if (top.wrong("trialCodeDirectory")) return;  // template files are relative to it
  for (const Section& section : top.sections("templates")) {
    auto file = read_template(section, program.code_directory);
    if (!file) continue;
    for (const TemplateFile& known : program.templates) {
      if (known.file == file->file) section.error("file", "there are two of that name");
      if (in_the_way(known.file, file->file))
        section.error("file", fmt::format("{} cannot be a file and a folder",
                                          std::min(known.file, file->file)));
    }
    if (setting.space != nullptr) {
      const auto named = check_template(*file, names);
      if (!named) {
        section.error("template", named.error().message);
      } else if (named->empty()) {
        words.warnings.push_back(fmt::format(
            "the template {} has no placeholder: every trial gets the same", file->name));
      } else {
        words.placeholders.insert(words.placeholders.end(), named->begin(), named->end());
      }
    }
    program.templates.push_back(*std::move(file));
  }
}

bool parts_of_one(std::string_view one, std::string_view other) {
  return one == other || one.starts_with(std::string(other) + ".") ||
         other.starts_with(std::string(one) + ".");
}

// A warning that names the parameters without a placeholder: a program that does not read
// parameter.cfg never gets them. Of a nested choice, one part is enough. Empty: there are none.
std::string unused_warning(const std::vector<std::string>& names,
                           const std::vector<std::string>& used) {
  std::vector<std::string> unused;
  for (const std::string& name : names) {
    if (name.ends_with("._value") || name.ends_with("._idx")) continue;  // the choice is in `names`
    const auto same = [&](const std::string& other) { return parts_of_one(name, other); };
    if (std::ranges::none_of(used, same) && std::ranges::none_of(unused, same))
      unused.push_back(name);
  }
  if (unused.empty()) return "";
  return fmt::format(
      "no placeholder names {}: write {{{}}} in trialCommand, in a value of environment or in a "
      "template, unless the program reads parameter.cfg itself",
      fmt::join(unused, ", "), unused.front());
}

}  // namespace

void store_templates(const TaskProgram& program, json& document) {
  for (std::size_t i = 0; i < program.templates.size(); ++i) {
    const TemplateFile& file = program.templates[i];
    // In base64, because a template may hold any bytes, and a document only UTF-8.
    document["templates"][i]["stored"] = {{"base64", base64_encode(file.text)},
                                          {"executable", file.executable}};
  }
}

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

TrialWords read_trial(const Section& top, const TrialSetting& setting, TaskProgram& program) {
  TrialWords words;
  if (setting.space != nullptr) program.parameter_names = placeholder_names(*setting.space);
  const ParameterNames names(program.parameter_names);
  std::vector<std::string>& used = words.placeholders;
  check_words(top, "trialCommand", program.command, setting, names, used);
  if (!top.wrong("trialCommand") && setting.space != nullptr) {
    if (const auto script = shell_script(program.command, names); !script)
      top.error("trialCommand", script.error().message);
  }
  read_environment(
      top,
      [&](const Section& environment, const std::string& name, const std::string& value) {
        check_words(environment, name, value, setting, names, used);
      },
      program);
  read_templates(top, setting, names, program, words);
  program.in_trial_folder = top.choice("trialWorkingDirectory", {"code", "trial"}) == "trial";
  program.report = read_report(top, setting.objective);
  for (const TemplateFile& file : program.templates) {
    if (!program.report.file.empty() && in_the_way(file.file, program.report.file))
      top.error("report",
                fmt::format("its file is in the way of {}, that of a template", file.file));
  }
  const bool by_arguments = program.arguments != TrialArguments::none;
  if (program.report.how != ReportRules::How::metrics_file && !by_arguments) {
    if (std::string warning = unused_warning(program.parameter_names, used); !warning.empty())
      words.warnings.push_back(std::move(warning));
  }
  // A program that reports by [tune-metric] is written for Syne Tune, and gets its arguments in the
  // form in which Syne Tune's backend passes them.
  if (program.arguments == TrialArguments::command_line &&
      program.report.how == ReportRules::How::tune_metric)
    program.arguments = TrialArguments::python_line;
  const std::set<std::string> each_once(used.begin(), used.end());
  used.assign(each_once.begin(), each_once.end());
  return words;
}

}  // namespace attune
