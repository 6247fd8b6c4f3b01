#pragma once
// Reads the part of an experiment file that describes how a trial runs and reports: the
// placeholders of trialCommand, environment, templates, trialWorkingDirectory, report.
#include <string>
#include <vector>

#include "manager/experiment/section.h"
#include "manager/experiment/task_program.h"
#include "space/space.h"

namespace attune {

extern const std::vector<std::string> kTrialKeys;  // at the top of the file

// The names that placeholders can have: the path of each parameter, without the names of the
// options of a nested choice (optimizer.lr), and the option itself (optimizer._name).
std::vector<std::string> placeholder_names(const Space& space);

// Puts the content of the templates into `document`, an experiment file, so that a resume does not
// read the files again: each entry of its `templates` gets a key `stored` with {base64,
// executable}.
void store_templates(const TaskProgram& program, json& document);

// What read_trial() must know from the rest of the file.
struct TrialSetting {
  const Space* space = nullptr;  // null: it cannot be read, so that placeholders are not checked
  std::string objective;         // the metric to optimise; empty: unknown
  bool of_user = true;           // false: from a store, where a {word} that is no parameter is text
};

struct TrialWords {
  std::vector<std::string> placeholders;  // the parameters that the program refers to; sorted
  std::vector<std::string> warnings;
};

// Reads the keys into `program`, whose command, folder, arguments and use of GPUs are set already.
// Reads the template files, unless the document has their content, and checks all placeholders and
// regular expressions. Mistakes become findings of `top`.
TrialWords read_trial(const Section& top, const TrialSetting& setting, TaskProgram& program);

}  // namespace attune
