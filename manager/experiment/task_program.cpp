#include "manager/experiment/task_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/base64.h"
#include "base/saved_numbers.h"
#include "cluster/pool/fields.h"

namespace attune {
namespace {

using How = ReportRules::How;

template <class T>
using Word = std::pair<T, std::string_view>;

constexpr std::array kArguments = {Word<TrialArguments>{TrialArguments::none, "none"},
                                   Word<TrialArguments>{TrialArguments::command_line, "line"},
                                   Word<TrialArguments>{TrialArguments::python_line, "python_line"},
                                   Word<TrialArguments>{TrialArguments::json_file, "json_file"}};
constexpr std::array kGpuUses = {Word<GpuUse>{GpuUse::inherit, "inherit"},
                                 Word<GpuUse>{GpuUse::hide, "hide"},
                                 Word<GpuUse>{GpuUse::assign, "assign"}};
constexpr std::array kFormats = {Word<TemplateFormat>{TemplateFormat::as_text, "text"},
                                 Word<TemplateFormat>{TemplateFormat::as_json, "json"},
                                 Word<TemplateFormat>{TemplateFormat::as_toml, "toml"},
                                 Word<TemplateFormat>{TemplateFormat::as_xml, "xml"}};
constexpr std::array kHows = {
    Word<How>{How::metrics_file, "metrics_file"}, Word<How>{How::lines, "lines"},
    Word<How>{How::tune_metric, "tune_metric"}, Word<How>{How::result_file, "result_file"},
    Word<How>{How::exit_code, "exit_code"}};
constexpr std::array kStreams = {Word<OutputStream>{OutputStream::out, "out"},
                                 Word<OutputStream>{OutputStream::err, "err"},
                                 Word<OutputStream>{OutputStream::both, "both"}};

template <class Words, class T>
std::string_view word_of(const Words& words, T value) {
  return std::ranges::find(words, value, [](const auto& each) { return each.first; })->second;
}

template <class Words>
auto word_at(const json& object, std::string_view key, const Words& words)
    -> Result<decltype(words.front().first)> {
  const std::string text = TRY(text_at(object, key));
  const auto found = std::ranges::find(words, text, [](const auto& each) { return each.second; });
  if (found == words.end()) return fail(fmt::format("{}: \"{}\" is not known", key, text));
  return found->first;
}

json json_of(const ReportRules& report) {
  json patterns = json::array();
  for (const LinePattern& each : report.patterns)
    patterns.push_back({{"regex", each.regex}, {"stream", word_of(kStreams, each.stream)}});
  return {{"how", word_of(kHows, report.how)},
          {"patterns", std::move(patterns)},
          {"file", report.file},
          {"file_regex", report.file_regex},
          {"objective", report.objective}};
}

Result<ReportRules> report_of(const json& object) {
  ReportRules report;
  report.how = TRY(word_at(object, "how", kHows));
  for (const json& each : TRY(array_at(object, "patterns"))) {
    LinePattern pattern;
    pattern.regex = TRY(text_at(each, "regex"));
    pattern.stream = TRY(word_at(each, "stream", kStreams));
    report.patterns.push_back(std::move(pattern));
  }
  report.file = TRY(text_at(object, "file"));
  report.file_regex = TRY(text_at(object, "file_regex"));
  report.objective = TRY(text_at(object, "objective"));
  return report;
}

// In base64, because a template may hold any bytes, and JSON only UTF-8.
json json_of(const TemplateFile& file) {
  return {{"name", file.name},
          {"file", file.file},
          {"format", word_of(kFormats, file.format)},
          {"base64", base64_encode(file.text)},
          {"executable", file.executable}};
}

Result<TemplateFile> template_of(const json& object) {
  TemplateFile file;
  file.name = TRY(text_at(object, "name"));
  file.file = TRY(text_at(object, "file"));
  file.format = TRY(word_at(object, "format", kFormats));
  file.text = TRY(base64_decode(TRY(text_at(object, "base64"))));
  file.executable = TRY(flag_at(object, "executable"));
  return file;
}

}  // namespace

json to_json(const TaskProgram& program) {
  json environment = json::array(), templates = json::array();
  for (const auto& [name, value] : program.environment)
    environment.push_back({{"name", name}, {"value", value}});
  for (const TemplateFile& file : program.templates) templates.push_back(json_of(file));
  return {{"command", program.command},
          {"code_directory", program.code_directory.string()},
          {"arguments", word_of(kArguments, program.arguments)},
          {"parameter_names", program.parameter_names},
          {"environment", std::move(environment)},
          {"templates", std::move(templates)},
          {"in_trial_folder", program.in_trial_folder},
          {"report", json_of(program.report)},
          {"in_step", program.in_step},
          {"gpus", word_of(kGpuUses, program.gpus)},
          {"trials_per_gpu", program.trials_per_gpu},
          {"output_limit", program.output_limit}};
}

Result<TaskProgram> parse_task_program(const json& object) {
  TaskProgram program;
  program.command = TRY(text_at(object, "command"));
  program.code_directory = TRY(text_at(object, "code_directory"));
  program.arguments = TRY(word_at(object, "arguments", kArguments));
  program.parameter_names = TRY(texts_at(object, "parameter_names"));
  for (const json& each : TRY(array_at(object, "environment"))) {
    std::string name = TRY(text_at(each, "name"));
    std::string value = TRY(text_at(each, "value"));
    program.environment.emplace_back(std::move(name), std::move(value));
  }
  for (const json& each : TRY(array_at(object, "templates")))
    program.templates.push_back(TRY(template_of(each)));
  program.in_trial_folder = TRY(flag_at(object, "in_trial_folder"));
  program.report = TRY(report_of(TRY(object_at(object, "report"))));
  program.in_step = TRY(flag_at(object, "in_step"));
  program.gpus = TRY(word_at(object, "gpus", kGpuUses));
  const std::int64_t trials = TRY(integer_at(object, "trials_per_gpu"));
  const std::int64_t bytes = TRY(integer_at(object, "output_limit"));
  if (trials < 1 || trials > 1000) return fail("trials_per_gpu: 1 to 1000 is wanted");
  if (bytes < 0) return fail("output_limit: a number of bytes is wanted");
  program.trials_per_gpu = static_cast<int>(trials);
  program.output_limit = static_cast<std::uint64_t>(bytes);
  return program;
}

}  // namespace attune
