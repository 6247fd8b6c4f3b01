#pragma once
// The part of an experiment file that says how a trial is run and how it reports: trialCommand with
// its placeholders, environment, templates, trialWorkingDirectory, report.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backends/command/template_file.h"
#include "backends/report/report_rules.h"
#include "manager/experiment/section.h"
#include "space/space.h"

namespace attune {

extern const std::vector<std::string> kTrialKeys;  // at the top of the file

// How trials are run, beside the command itself.
struct TrialProgram {
  std::vector<std::string> parameter_names;                      // what placeholders may refer to
  std::vector<std::string> placeholders;                         // what they do refer to; sorted
  std::vector<std::pair<std::string, std::string>> environment;  // with placeholders
  std::vector<TemplateFile> templates;
  bool in_trial_folder = false;
  ReportRules report;
  std::vector<std::string> warnings;
};

// What a placeholder can refer to: the path of each parameter, in a nested choice without the names
// of its options (optimizer.lr), and optimizer._name.
std::vector<std::string> placeholder_names(const Space& space);

// Puts the templates into `document`, an experiment file, so that they are not read again: for each
// of its `templates` a key `stored` with {text, executable}.
void store_templates(const TrialProgram& program, json& document);

// What the rest of the file says that shapes the reading.
struct TrialSetting {
  const Space* space = nullptr;  // null: it cannot be read, and what placeholders may be is unknown
  std::string command;
  std::filesystem::path code_directory;
  std::string objective;  // the metric that is searched for; empty: unknown
  bool gpus = false;      // trials are given GPUs
  bool of_user = true;    // else of a store: a {word} that is no parameter is text there
};

// Reads the templates, or takes what is stored, checks every placeholder and compiles every regular
// expression. What is wrong is a finding.
TrialProgram read_trial(const Section& top, const TrialSetting& setting);

}  // namespace attune
