#pragma once
// Shared by the sources that implement options.h, and included by no others.
#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "manager/cli/option_words.h"
#include "manager/cli/options.h"

namespace attune {

// The parser writes options into these structs. The callback of the given sub-command copies its
// struct into `chosen`.
struct ParsedOptions {
  RunOptions run;
  ResumeOptions resume;
  SimulateOptions simulate;
  StopOptions stop;
  KillOptions kill;
  AddOptions add;
  ImportOptions import;
  AdoptOptions adopt;
  UpdateOptions update;
  ListOptions list;
  StatusOptions status;
  TrialsOptions trials;
  ShowOptions show;
  LogsOptions logs;
  BestOptions best;
  ExportOptions exported;
  ImportanceOptions importance;
  ConfigOptions config;
  CompareOptions compare;
  RenameOptions rename;
  DeleteOptions deleted;
  CompletionWordsOptions completion_words;
  CoordinatorCommandOptions coordinator;
  WorkerCommandOptions worker;
  PoolOptions pool;
  McpOptions mcp;
  DashboardCommandOptions dashboard;
  ReportOptions report;
  PlotOptions plot;
  std::string durability = "second";
  std::vector<std::string> amounts;
  std::vector<std::string> retries, statuses;  // words; read_words() converts them
  std::string shell;
  std::optional<CommandOptions> chosen;
};

// Up to 2^53: larger ones are not exact as JSON numbers.
inline CLI::Range seeds() { return {std::int64_t{0}, std::int64_t{1} << 53}; }

inline CLI::Range trial_numbers() { return {std::int64_t{1}, std::int64_t{1'000'000'000}}; }

inline CLI::AsNumberWithUnit duration() {
  return CLI::AsNumberWithUnit(
      std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}});
}

// A number from 0 to kMostAmount. CLI11's own validators accept NaN, and print a range of 300
// digits.
inline CLI::Validator amount() {
  return {[](std::string& text) -> std::string {
            double number = 0;
            if (CLI::detail::lexical_cast(text, number) && number >= 0 && number <= kMostAmount)
              return "";
            return "a number from 0 to 1e18 expected, not " + text;
          },
          ""};
}

// The option takes one of the words in "a|b|c". Help and completion show this text.
inline CLI::Option* among(CLI::Option* option, const std::string& words) {
  std::vector<std::string> choices;
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, '|');) choices.push_back(word);
  return option->check(CLI::IsMember(choices).description(""))->type_name(words);
}

template <class Options>
CLI::App* command(CLI::App& app, ParsedOptions& found, const std::string& group,
                  const std::string& name, const std::string& description,
                  Options ParsedOptions::* options, const std::string& footer) {
  CLI::App* sub = app.add_subcommand(name, description);
  sub->group(group);
  sub->footer("Examples:\n" + footer);
  sub->callback([&found, options] { found.chosen = found.*options; });
  return sub;
}

void add_pool(CLI::App& app, ParsedOptions& found);         // coordinator, worker, pool
void add_mcp(CLI::App& app, ParsedOptions& found);          // mcp
void add_dashboard(CLI::App& app, ParsedOptions& found);    // dashboard, report, plot
void add_results(CLI::App& app, ParsedOptions& found);      // best, importance, export
void add_adopt(CLI::App& app, ParsedOptions& found);        // adopt
void add_experiments(CLI::App& app, ParsedOptions& found);  // config, compare, rename, delete

void directory_option(CLI::App* sub, std::string& directory);  // --dir
// The options of an ExperimentChoice. `positional`: EXPERIMENT is the argument of the command; else
// it is the option -e, because the argument is a trial or a file.
void choice_options(CLI::App* sub, ExperimentChoice& which, bool positional);

// Return a usage error that names the nearest word: for a first word that is no command, and for a
// word that looks like an option and is none of its command. Call them before CLI11 parses, which
// might report another mistake first.
std::optional<CommandLineEnd> unknown_command(const CLI::App& app, int argc,
                                              const char* const* argv);
std::optional<CommandLineEnd> unknown_option(const CLI::App& app, int argc,
                                             const char* const* argv);

}  // namespace attune
