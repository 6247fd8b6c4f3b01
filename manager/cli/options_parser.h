#pragma once
// What the sources of options.h share. Only for these.
#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "manager/cli/option_words.h"
#include "manager/cli/options.h"

namespace attune {

// Where the parser puts what it finds. The sub-command that was given names the one that counts.
struct Found {
  RunOptions run;
  ResumeOptions resume;
  SimulateOptions simulate;
  StopOptions stop;
  KillOptions kill;
  AddOptions add;
  ImportOptions import;
  UpdateOptions update;
  ListOptions list;
  StatusOptions status;
  TrialsOptions trials;
  ShowOptions show;
  LogsOptions logs;
  BestOptions best;
  ExportOptions exported;
  ConfigOptions config;
  CompareOptions compare;
  RenameOptions rename;
  DeleteOptions deleted;
  CompletionWordsOptions completion_words;
  CoordinatorCommandOptions coordinator;
  WorkerCommandOptions worker;
  PoolOptions pool;
  std::string durability = "second";
  std::vector<std::string> amounts;
  std::vector<std::string> retries, statuses;  // before they are understood
  std::string shell;
  std::optional<CommandOptions> chosen;
};

// What a JSON number holds exactly.
inline CLI::Range seeds() { return {std::int64_t{0}, std::int64_t{1} << 53}; }

inline CLI::AsNumberWithUnit duration() {
  return CLI::AsNumberWithUnit(
      std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}});
}

// 0 or more. The numbers of CLI11 let NaN through, and say a range of 300 digits.
inline CLI::Validator amount() {
  return {[](std::string& text) -> std::string {
            double number = 0;
            if (CLI::detail::lexical_cast(text, number) && number >= 0 && number <= kMostAmount)
              return "";
            return "a number from 0 to 1e18 expected, not " + text;
          },
          ""};
}

// One of the words of "a|b|c", which is also what help and completion show.
inline CLI::Option* among(CLI::Option* option, const std::string& words) {
  std::vector<std::string> choices;
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, '|');) choices.push_back(word);
  return option->check(CLI::IsMember(choices).description(""))->type_name(words);
}

template <class Options>
CLI::App* command(CLI::App& app, Found& found, const std::string& group, const std::string& name,
                  const std::string& description, Options Found::* options,
                  const std::string& footer) {
  CLI::App* sub = app.add_subcommand(name, description);
  sub->group(group);
  sub->footer("Examples:\n" + footer);
  sub->callback([&found, options] { found.chosen = found.*options; });
  return sub;
}

void add_pool(CLI::App& app, Found& found);         // the commands of many machines
void add_experiments(CLI::App& app, Found& found);  // those for whole experiments

void directory_option(CLI::App* sub, std::string& directory);  // --dir
// `positional`: EXPERIMENT is the argument; else it is named with -e, for the argument is a trial
// or a file.
void choice_options(CLI::App* sub, ExperimentChoice& which, bool positional);

// A first word that is no command, a word that begins as an option does and is none of its command.
// The error names the nearest one. Before parsing: what CLI11 finds first may be something else.
std::optional<CommandLineEnd> unknown_command(const CLI::App& app, int argc,
                                              const char* const* argv);
std::optional<CommandLineEnd> unknown_option(const CLI::App& app, int argc,
                                             const char* const* argv);

}  // namespace attune
