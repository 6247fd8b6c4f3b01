#include "manager/cli/commands/adopt.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/python_json.h"
#include "base/terminal_text.h"
#include "manager/cli/commands/shell_words.h"
#include "manager/control/json_format.h"
#include "manager/experiment/yaml.h"
#include "manager/interchange/adopted.h"
#include "os/atomic_file.h"
#include "os/standard_output.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

Result<void> check_free(const fs::path& file) {
  if (!fs::exists(fs::symlink_status(file))) return {};
  return fail(file.string() + " exists; name another experiment file with -o");
}

std::string experiment_text(const AdoptOptions& options, const AdoptedExperiment& adopted) {
  json file = adopted.file;
  if (!options.trial_command.empty()) file["trialCommand"] = options.trial_command;
  std::string text = "# Made by attune adopt. docs/experiment-file.md lists all keys.\n";
  if (!file.contains("trialCommand"))
    text += "# It needs trialCommand, the command of one trial: trialCommand: python3 train.py\n";
  return text + yaml_text(file);
}

std::string results_text(const AdoptedExperiment& adopted) {
  std::string text;
  for (const json& row : adopted.rows) text += dump_python_json(row) + "\n";
  return text;
}

}  // namespace

Result<int> adopt(const AdoptOptions& options, const Console& console) {
  const fs::path file = options.output;
  const fs::path results = fs::path(file).replace_extension(".jsonl");
  TRY(check_free(file));
  TRY(check_free(results));
  const AdoptedExperiment adopted = TRY(adopt_file(options.file, options.study));
  TRY(write_file_atomically(results.string(), results_text(adopted)));
  TRY(write_file_atomically(file.string(), experiment_text(options, adopted)));
  for (const std::string& loss : adopted.losses.all())
    put_text(console.err, terminal_text(fmt::format("attune: {}\n", loss)));
  const auto known =
      std::ranges::count_if(adopted.rows, [](const json& row) { return row.contains("value"); });
  if (options.json) {
    print_json(console, with_format({{"name", adopted.name},
                                     {"file", file.string()},
                                     {"results", results.string()},
                                     {"trials", adopted.rows.size()},
                                     {"with_result", known},
                                     {"losses", adopted.losses.all()}}));
    return kExitOk;
  }
  print_text(
      console,
      fmt::format("{} trials, {} with a result; go on with them:\n  attune run {} --import {}\n",
                  adopted.rows.size(), known, shell_word(file.string()),
                  shell_word(results.string())));
  return kExitOk;
}

}  // namespace attune
