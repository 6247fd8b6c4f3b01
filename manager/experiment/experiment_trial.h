#pragma once
// The part of an experiment file that says how a trial is run and how it reports: trialCommand with
// its placeholders, environment, templates, trialWorkingDirectory, report.
#include <string>
#include <vector>

#include "manager/experiment/section.h"
#include "manager/experiment/task_program.h"
#include "space/space.h"

namespace attune {

extern const std::vector<std::string> kTrialKeys;  // at the top of the file

// What a placeholder can refer to: the path of each parameter, in a nested choice without the names
// of its options (optimizer.lr), and optimizer._name.
std::vector<std::string> placeholder_names(const Space& space);

// Puts the templates into `document`, an experiment file, so that they are not read again: for each
// of its `templates` a key `stored` with {text, executable}.
void store_templates(const TaskProgram& program, json& document);

// What the rest of the file says that shapes the reading.
struct TrialSetting {
  const Space* space = nullptr;  // null: it cannot be read, and what placeholders may be is unknown
  std::string objective;         // the metric that is searched for; empty: unknown
  bool of_user = true;           // else of a store: a {word} that is no parameter is text there
};

struct TrialWords {
  std::vector<std::string> placeholders;  // the parameters that they refer to; sorted
  std::vector<std::string> warnings;
};

// Reads the templates, or takes what is stored, checks every placeholder and compiles every regular
// expression. What is wrong is a finding. `program` gets what the keys say; its command, folder,
// arguments and use of GPUs have been read before.
TrialWords read_trial(const Section& top, const TrialSetting& setting, TaskProgram& program);

}  // namespace attune
