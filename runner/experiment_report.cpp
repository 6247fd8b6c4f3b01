#include "runner/experiment_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "backends/regex.h"
#include "backends/trial_folder.h"

namespace attune {
namespace {

constexpr std::array<std::string_view, 7> kOwnFiles = {
    "parameter.cfg", "config.json", "stdout", "stderr", ".nni", "checkpoint", "trial.log"};

Result<void> check_regex(const Section& section, const std::string& regex,
                         const std::string& objective) {
  const auto compiled = Regex::compile(regex);
  if (!compiled) return section.error("regex", compiled.error().message);
  const auto& groups = compiled->groups();
  if (std::ranges::find(groups, objective) != groups.end()) return {};
  return section.error(
      "regex", fmt::format("no group is named \"{}\", the metric that is searched for; write "
                           "(?<{}>...) around its number{}",
                           objective, objective,
                           groups.empty() ? ""
                                          : fmt::format(", or name one of {} in `objectives`",
                                                        fmt::join(groups, ", "))));
}

Result<LinePattern> read_pattern(const Section& section, const std::string& objective) {
  TRY(section.check_keys({"regex", "stream"}));
  const auto regex = TRY(section.text("regex"));
  if (!regex) return section.error("regex", "missing: a regular expression");
  TRY(check_regex(section, *regex, objective));
  const std::string stream = TRY(section.text("stream")).value_or("stdout");
  if (stream == "stdout") return LinePattern{*regex, OutputStream::out};
  if (stream == "stderr") return LinePattern{*regex, OutputStream::err};
  if (stream == "both") return LinePattern{*regex, OutputStream::both};
  return section.error("stream", fmt::format("\"{}\" is none of stdout, stderr, both", stream));
}

Result<void> read_result_file(const Section& section, ReportRules& rules) {
  rules.how = ReportRules::How::result_file;
  rules.file = *TRY(section.text("file"));
  if (const std::string flaw = flaw_of_trial_file(rules.file); !flaw.empty())
    return section.error("file", flaw);
  rules.file = std::filesystem::path(rules.file).lexically_normal().string();
  const auto regex = TRY(section.text("regex"));
  if (!regex) return {};
  TRY(check_regex(section, *regex, rules.objective));
  rules.file_regex = *regex;
  return {};
}

}  // namespace

std::string flaw_of_trial_file(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
  if (name.empty() || path.is_absolute() || *path.begin() == ".." || path.filename().empty() ||
      path == ".")
    return "the name of a file in the folder of the trial expected, such as case.toml";
  const std::string first = path.begin()->string();
  for (const std::filesystem::path& part : path) {
    if (part.string().starts_with(kReservedPrefix))
      return fmt::format("names that begin with {} are attune's own", kReservedPrefix);
  }
  const bool own = std::ranges::find(kOwnFiles, first) != kOwnFiles.end() ||
                   first.starts_with("spool.") ||
                   (first.starts_with("parameter_") && first.ends_with(".cfg"));
  return own ? fmt::format("{} is attune's own; choose another name", first) : "";
}

Result<ReportRules> read_report(const Section& top, const std::string& objective) {
  ReportRules rules;
  rules.objective = objective;
  const json* value = top.find("report");
  if (value == nullptr) return rules;
  if (value->is_string()) {
    if (*value == "tuneMetric") rules.how = ReportRules::How::tune_metric;
    if (*value != "tuneMetric" && *value != "metricsFile")
      return top.error("report", fmt::format("{} is none of metricsFile, tuneMetric, {{regex}}, "
                                             "{{file}}, {{exitCode}}",
                                             dump_json(*value)));
    return rules;
  }
  if (value->is_array()) {
    rules.how = ReportRules::How::lines;
    for (const Section& section : TRY(top.sections("report")))
      rules.patterns.push_back(TRY(read_pattern(section, objective)));
    if (rules.patterns.empty()) return top.error("report", "the list is empty");
    return rules;
  }
  const auto section = TRY(top.section("report"));
  TRY(section->check_keys({"regex", "stream", "file", "exitCode"}));
  if (TRY(section->boolean("exitCode")).value_or(false)) {
    if (section->value().size() > 1)
      return section->error("exitCode", "it is the result alone; drop the other keys");
    rules.how = ReportRules::How::exit_code;
  } else if (TRY(section->text("file"))) {
    if (section->find("stream") != nullptr)
      return section->error("stream", "a file has none; drop one of stream and file");
    TRY(read_result_file(*section, rules));
  } else if (section->find("regex") != nullptr) {
    rules.how = ReportRules::How::lines;
    rules.patterns.push_back(TRY(read_pattern(*section, objective)));
  } else {
    return section->error("", "one of regex, file, exitCode: true is needed");
  }
  return rules;
}

}  // namespace attune
