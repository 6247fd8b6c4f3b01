#include "manager/experiment/experiment_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "backends/report/regex.h"
#include "backends/trial_folder.h"

namespace attune {
namespace {

constexpr std::array<std::string_view, 7> kOwnFiles = {
    "parameter.cfg", "config.json", "stdout", "stderr", ".nni", "checkpoint", "trial.log"};

void check_regex(const Section& section, const std::string& regex, const std::string& objective) {
  const auto compiled = Regex::compile(regex);
  if (!compiled) return section.error("regex", compiled.error().message);
  const auto& groups = compiled->groups();
  if (objective.empty() || std::ranges::find(groups, objective) != groups.end()) return;
  section.error("regex",
                fmt::format("no group is named \"{}\", the metric that is searched for; write "
                            "(?<{}>...) around its number{}",
                            objective, objective,
                            groups.empty() ? ""
                                           : fmt::format(", or name one of {} in `objectives`",
                                                         fmt::join(groups, ", "))));
}

LinePattern read_pattern(const Section& section, const std::string& objective) {
  section.check_keys({"regex", "stream"});
  const auto regex = section.text("regex");
  if (regex) {
    check_regex(section, *regex, objective);
  } else {
    section.error("regex", "missing: a regular expression");
  }
  const std::string stream = section.choice("stream", {"stdout", "stderr", "both"});
  return {regex.value_or(""), stream == "stdout"   ? OutputStream::out
                              : stream == "stderr" ? OutputStream::err
                                                   : OutputStream::both};
}

void read_result_file(const Section& section, const std::string& file, ReportRules& rules) {
  rules.how = ReportRules::How::result_file;
  if (const std::string flaw = flaw_of_trial_file(file); !flaw.empty()) section.error("file", flaw);
  rules.file = std::filesystem::path(file).lexically_normal().string();
  if (const auto regex = section.text("regex")) {
    check_regex(section, *regex, rules.objective);
    rules.file_regex = *regex;
  }
}

void read_report_object(const Section& section, ReportRules& rules) {
  section.check_keys({"regex", "stream", "file", "exitCode"});
  const auto file = section.text("file");
  if (section.boolean("exitCode").value_or(false)) {
    if (section.value().size() > 1)
      section.error("exitCode", "it is the result alone; drop the other keys");
    rules.how = ReportRules::How::exit_code;
  } else if (file) {
    if (section.find("stream") != nullptr)
      section.error("stream", "a file has none; drop one of stream and file");
    read_result_file(section, *file, rules);
  } else if (section.find("regex") != nullptr) {
    rules.how = ReportRules::How::lines;
    rules.patterns.push_back(read_pattern(section, rules.objective));
  } else if (!section.wrong("")) {
    section.error("", "one of regex, file, exitCode: true is needed");
  }
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

ReportRules read_report(const Section& top, const std::string& objective) {
  ReportRules rules;
  rules.objective = objective;
  const json* value = top.find("report");
  if (value == nullptr) return rules;
  if (value->is_string()) {
    if (*value == "tuneMetric") {
      rules.how = ReportRules::How::tune_metric;
    } else if (*value != "metricsFile") {
      top.error("report", fmt::format("{} is none of metricsFile, tuneMetric, {{regex}}, {{file}}, "
                                      "{{exitCode}}",
                                      dump_json(*value)));
    }
  } else if (value->is_array()) {
    rules.how = ReportRules::How::lines;
    for (const Section& section : top.sections("report"))
      rules.patterns.push_back(read_pattern(section, objective));
    if (value->empty()) top.error("report", "the list is empty");
  } else if (const auto section = top.section("report")) {
    read_report_object(*section, rules);
  }
  return rules;
}

}  // namespace attune
